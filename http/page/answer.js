// From the answer of /api/query to what the chart draws: one column of times for all, one of values
// for each series.

/**
 * answer: elements with dps as [[ms, value], …] and `query` (showQuery).
 * subs: [{ letter, right }], how the page names and draws each sub-query that was sent.
 * Gives { times: [seconds], annotations: [{ startMs, endMs, text, note: as the server has it }],
 *   series: [{ sub, right, metric, tags, aggregateTags, label, values }] }.
 * A value is a number, null (there is none: the line breaks), or undefined (this series has no
 * point at that time: the line goes on).
 */
export function toColumns(answer, subs = []) {
  const elements = answer.filter((element) => Array.isArray(element.dps));
  const times = allTimes(elements);
  const severalMetrics = new Set(elements.map((element) => element.metric)).size > 1;
  const severalSubs = new Set(elements.map((element) => element.query?.index ?? 0)).size > 1;
  const series = elements.map((element) => {
    const sub = element.query?.index ?? 0;
    const { metric, tags, aggregateTags } = element;
    const { letter = letterOf(sub), right = false } = subs[sub] ?? {};
    return {
      sub,
      right,
      metric,
      tags,
      aggregateTags,
      label: (severalSubs ? `${letter} ` : '') + labelOf(metric, tags, severalMetrics),
      values: valuesAt(times, element.dps),
    };
  });
  return { times: times.map((ms) => ms / 1000), series, annotations: allAnnotations(elements) };
}

/** "A", "B", … "Z", "A1", …: how the page names its sub-queries. */
export function letterOf(index) {
  return String.fromCharCode(65 + (index % 26)) + (index >= 26 ? Math.floor(index / 26) : '');
}

function labelOf(metric, tags, withMetric) {
  const pairs = Object.keys(tags)
    .sort()
    .map((key) => `${key}=${tags[key]}`)
    .join(' ');
  if (pairs === '') return metric;
  return withMetric ? `${metric} ${pairs}` : pairs;
}

function sameTimes(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i][0] !== b[i][0]) return false;
  return true;
}

function allTimes(elements) {
  const longest = elements.reduce(
    (most, element) => (element.dps.length > most.length ? element.dps : most),
    [],
  );
  // After downsampling they mostly are alike; else they are gathered.
  if (elements.every((element) => sameTimes(element.dps, longest)))
    return longest.map((point) => point[0]);
  const seen = new Set();
  for (const element of elements) for (const point of element.dps) seen.add(point[0]);
  return Array.from(Float64Array.from(seen).sort());
}

function valuesAt(times, points) {
  const values = new Array(times.length).fill(undefined);
  let at = 0;
  // "NaN" is a text in JSON.
  for (const [time, value] of points) {
    while (times[at] < time) at++;
    values[at] = typeof value === 'number' && Number.isFinite(value) ? value : null;
  }
  return values;
}

function allAnnotations(elements) {
  const known = new Map();
  for (const element of elements) {
    for (const note of [...(element.annotations ?? []), ...(element.globalAnnotations ?? [])]) {
      const times = {
        startMs: toMilliseconds(note.startTime),
        endMs: toMilliseconds(note.endTime),
      };
      const text = note.description || note.notes || '(no description)';
      known.set(`${note.tsuid ?? ''} ${note.startTime}`, { ...times, text, note });
    }
  }
  return [...known.values()].sort((a, b) => a.startMs - b.startMs);
}

// Ten digits are seconds, as everywhere in OpenTSDB; no end is 0.
function toMilliseconds(time) {
  const number = Number(time) || 0;
  return number < 1e10 ? number * 1000 : number;
}

/**
 * Of the values that are there: { count, last, min, max, mean }; all but count are null if there is
 * none.
 */
export function summary(values) {
  let count = 0,
    sum = 0,
    min = Infinity,
    max = -Infinity,
    last = null;
  for (const value of values) {
    if (typeof value !== 'number') continue;
    count++;
    sum += value;
    if (value < min) min = value;
    if (value > max) max = value;
    last = value;
  }
  if (count === 0) return { count, last: null, min: null, max: null, mean: null };
  return { count, last, min, max, mean: sum / count };
}
