// Times as /api/query takes them (opentsdb-http-api.md §10.4), and as people read them. Milliseconds
// since the epoch. Dates are in the zone of the browser, as everything it shows.

const UNIT_MS = {
  ms: 1,
  s: 1000,
  m: 60e3,
  h: 3600e3,
  d: 86400e3,
  w: 7 * 86400e3,
  n: 30 * 86400e3,
  y: 365 * 86400e3,
};

export const RANGES = ['5m', '15m', '1h', '3h', '6h', '12h', '1d', '2d', '7d', '30d', '90d', '1y'];

/**
 * Of "1h-ago", "now", "1700000000", "1700000000.500", "2024/01/31-12:00"; NaN for what is none of
 * them. "" is now. What stands between the number and the last letter of "10min-ago" says nothing.
 */
export function toMs(text, nowMs) {
  const word = String(text).trim();
  if (word === '' || word.toLowerCase() === 'now') return nowMs;
  const ago = /^(\d+).*?(ms|[smhdwny])-[aA][gG][oO]$/.exec(word);
  if (ago) return nowMs - Number(ago[1]) * UNIT_MS[ago[2]];
  if (/^\d+ms$/.test(word)) return parseInt(word, 10);
  if (/^\d+$/.test(word)) return word.length <= 10 ? Number(word) * 1000 : Number(word);
  // The dot alone is left out.
  if (/^\d{10}\.\d{1,3}$/.test(word)) return Number(word.replace('.', ''));
  const date = /^(\d{4})\/(\d\d)\/(\d\d)(?:[- ](\d\d):(\d\d)(?::(\d\d))?)?$/.exec(word);
  if (!date) return NaN;
  const [, year, month, day, hour = 0, minute = 0, second = 0] = date;
  return new Date(year, month - 1, day, hour, minute, second).getTime();
}

/** A date as milliseconds, for a server in another zone; other texts as they are. */
export function withoutZone(text) {
  const ms = /[/:]/.test(text) ? toMs(text, NaN) : NaN;
  return Number.isNaN(ms) ? text : String(ms);
}

export function durationMs(text) {
  const parts = /^(\d+)(ms|[smhdwny])$/.exec(text);
  return parts ? Number(parts[1]) * UNIT_MS[parts[2]] : NaN;
}

// What a reader of an axis can count in.
const INTERVALS = [
  '1s',
  '2s',
  '5s',
  '10s',
  '15s',
  '30s',
  '1m',
  '2m',
  '5m',
  '10m',
  '15m',
  '30m',
  '1h',
  '2h',
  '3h',
  '6h',
  '12h',
  '1d',
  '7d',
  '30d',
];

/** The shortest interval that leaves no more than `points` of them in a range. */
export function intervalFor(rangeMs, points) {
  return INTERVALS.find((interval) => durationMs(interval) * points >= rangeMs) ?? INTERVALS.at(-1);
}

const two = (n) => String(n).padStart(2, '0');

/** "2024-01-31 12:00:00", in the zone of the browser; with milliseconds where there are any. */
export function formatTime(ms) {
  const at = new Date(ms);
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const fraction = ms % 1000 === 0 ? '' : '.' + String(at.getMilliseconds()).padStart(3, '0');
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}${fraction}`;
}

/** What <input type="datetime-local"> holds. */
export function toInput(ms) {
  return formatTime(ms - (ms % 1000)).replace(' ', 'T');
}

export function describeRange(start, end) {
  const ago = /^(\d+(?:ms|[smhdwny]))-ago$/.exec(start);
  const word = (text) => {
    const ms = toMs(text, NaN);
    return Number.isNaN(ms) ? text : formatTime(ms);
  };
  if (ago && (end === '' || end === 'now')) return `last ${ago[1]}`;
  return `${word(start)} – ${end === '' ? 'now' : word(end)}`;
}
