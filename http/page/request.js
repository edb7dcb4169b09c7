// From what the page shows to the request that asks for it, and to what a shell would say.

import { completeFilters, isPlain, printExpression } from './expression.js';
import { intervalFor, toMs } from './times.js';

/**
 * The state with each "auto-" replaced by an interval: about `points` of them for the range, none
 * shorter than a second.
 */
export function resolveAuto(state, nowMs, points) {
  const rangeMs = toMs(state.end, nowMs) - toMs(state.start, nowMs);
  const interval = intervalFor(Number.isFinite(rangeMs) ? rangeMs : 0, points);
  const resolve = (sub) => ({
    ...sub,
    downsample: sub.downsample.replace(/^auto-/i, `${interval}-`),
  });
  return { ...state, subs: state.subs.map(resolve) };
}

/** The body of POST /api/query (spec http-api.md §10.5). The state has no "auto-" left. */
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
 * (spec §10.1).
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
  words.push('ms', 'arrays', ...expressions.map((text) => `m=${encodeURIComponent(text)}`));
  return `curl ${quoted(`${base}api/query?${words.join('&')}`)}`;
}
