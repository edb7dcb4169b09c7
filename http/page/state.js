// What the page shows, as the part of its address behind "#". The words are those of /api/query,
// and with that those of OpenTSDB's own page: #start=1h-ago&end=now&m=sum:1m-avg:metric{host=*}&m=…
// So bookmarks of that one open here.

import { parseExpression, printExpression } from './expression.js';

export const VIEWS = ['graph', 'server'];

// A day: timers of browsers end soon after three weeks.
const REFRESH_MAX_S = 86400;

// An option of gnuplot, which drew OpenTSDB's graphs.
const RIGHT_AXIS = 'axis x1y2';

export function newState() {
  return { view: 'graph', start: '1h-ago', end: '', annotations: true, refresh: 0, subs: [] };
}

/**
 * "#…" or "…". What cannot be read is left out and told in `wrong`: a shared address should show
 * what it can.
 */
export function parseState(hash) {
  const state = newState();
  const wrong = [];
  const words = new URLSearchParams(hash.replace(/^#/, '').replace(/\+/g, '%2B'));
  // A plus is a blank where a form wrote the address, but may be one of a regular expression.
  const spaced = (text) => (text ?? '').replaceAll('+', ' ');
  if (words.get('start')) state.start = spaced(words.get('start'));
  if (words.get('end') && words.get('end') !== 'now') state.end = spaced(words.get('end'));
  if (VIEWS.includes(words.get('view'))) state.view = words.get('view');
  if (words.has('no_annotations')) state.annotations = false;
  const refresh = Number.parseInt(words.get('refresh') ?? '0', 10) || 0;
  state.refresh = Math.min(Math.max(0, refresh), REFRESH_MAX_S);
  // As OpenTSDB's page has it: the first o= belongs to the first m=.
  const options = words.getAll('o');
  words.getAll('m').forEach((text, i) => {
    try {
      state.subs.push({ ...parseExpression(text), right: spaced(options[i]) === RIGHT_AXIS });
    } catch (error) {
      wrong.push(error.message);
    }
  });
  return { state, wrong };
}

export function printState(state) {
  const words = [];
  const add = (name, value) => words.push(`${name}=${readable(value)}`);
  if (state.view !== 'graph') add('view', state.view);
  add('start', state.start);
  if (state.end) add('end', state.end);
  if (!state.annotations) words.push('no_annotations');
  if (state.refresh) add('refresh', state.refresh);
  const subs = state.subs.filter((sub) => sub.metric);
  for (const sub of subs) add('m', printExpression(sub));
  if (subs.some((sub) => sub.right)) for (const sub of subs) add('o', sub.right ? RIGHT_AXIS : '');
  return '#' + words.join('&');
}

// Percent signs only where an address needs them: it is read by people, too.
function readable(text) {
  return encodeURIComponent(text).replace(/%(3A|7B|7D|2C|3D|2F|7C|24|40)/gi, (code) =>
    decodeURIComponent(code),
  );
}
