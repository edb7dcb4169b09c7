// From what the page shows to the request that asks for it, and to what a shell would say.

import { completeFilters, isPlain, printExpression } from './expression.js';
import { intervalFor, toMs, withoutZone } from './times.js';

/**
 * The state as every server reads it: dates are milliseconds, and each "auto-" is an interval: about
 * `points` of them for the range, none shorter than a second.
 */
export function resolve(state, nowMs, points) {
  const rangeMs = toMs(state.end, nowMs) - toMs(state.start, nowMs);
  const interval = intervalFor(Number.isFinite(rangeMs) ? rangeMs : 0, points);
  const resolved = (sub) => ({
    ...sub,
    downsample: sub.downsample.replace(/^auto-/i, `${interval}-`),
  });
  return {
    ...state,
    start: withoutZone(state.start),
    end: withoutZone(state.end),
    subs: state.subs.map(resolved),
  };
}

const HOUR_MS = 3600e3;

/**
 * [startMs, endMs] of an axis: what the state says, or where only the server could read that, what
 * it answered. times: in seconds.
 */
export function rangeOf(state, nowMs, times) {
  const known = (ms, other, last) => (Number.isNaN(ms) ? (other ?? NaN) * 1000 || last : ms);
  const end = known(toMs(state.end, nowMs), times.at(-1), nowMs);
  return [known(toMs(state.start, nowMs), times[0], end - HOUR_MS), end];
}

/** The body of POST /api/query (opentsdb-http-api.md §10.5). The state has no "auto-" left. */
export function queryBody(state) {
  const body = { start: state.start };
  if (state.end) body.end = state.end;
  body.msResolution = true;
  body.showQuery = true;
  if (state.annotations) body.globalAnnotations = true;
  else body.noAnnotations = true;
  body.queries = askedSubs(state).map(subQueryBody);
  return body;
}

/**
 * The sub-queries that are sent, in the order in which answers count them: of equal ones the first
 * (opentsdb-http-api.md §10.1).
 */
export function askedSubs(state) {
  const seen = new Set();
  return state.subs.filter((sub) => {
    const text = JSON.stringify(subQueryBody(sub));
    if (sub.metric === '' || seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}

function subQueryBody(sub) {
  const query = { metric: sub.metric, aggregator: sub.aggregator };
  if (sub.downsample) query.downsample = sub.downsample;
  if (sub.rate) {
    query.rate = true;
    if (sub.rate.counter) query.rateOptions = rateOptions(sub.rate);
  }
  if (sub.explicitTags) query.explicitTags = true;
  if (sub.valueFilter) query.valueFilter = sub.valueFilter;
  const filters = completeFilters(sub);
  if (filters.length > 0) query.filters = filters;
  return query;
}

function rateOptions(rate) {
  const options = { counter: true };
  if (rate.drop) options.dropResets = true;
  if (rate.max) options.counterMax = rate.max;
  if (rate.reset) options.resetValue = rate.reset;
  return options;
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** For a shell. base: "http://127.0.0.1:4242/". */
export function curlPost(base, state) {
  return `curl -d ${quoted(JSON.stringify(queryBody(state)))} ${quoted(`${base}api/query?arrays`)}`;
}

/** The same with GET; null if a filter holds what that grammar has no word for. */
export function curlGet(base, state) {
  const expressions = askedSubs(state).map(printExpression);
  if (!expressions.every(isPlain)) return null;
  const words = [`start=${encodeURIComponent(state.start)}`];
  if (state.end) words.push(`end=${encodeURIComponent(state.end)}`);
  words.push('ms', 'show_query', state.annotations ? 'global_annotations' : 'no_annotations');
  words.push('arrays', ...expressions.map((text) => `m=${encodeURIComponent(text)}`));
  return `curl ${quoted(`${base}api/query?${words.join('&')}`)}`;
}
