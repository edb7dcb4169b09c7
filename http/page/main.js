// The page: what it shows is one state, kept in its address; this joins the parts that show and
// change it.

import { letterOf, toColumns } from './answer.js';
import { ApiError, api } from './api.js';
import { Builder } from './builder.js';
import { Chart } from './chart.js';
import { byId, element, released, settled } from './dom.js';
import { Explore } from './explore.js';
import { newSubQuery } from './expression.js';
import { startKeys } from './keys.js';
import { Legend } from './legend.js';
import { Notes } from './notes.js';
import { askedSubs, queryBody, rangeOf, resolve } from './request.js';
import { showRequest } from './request_panel.js';
import { ServerView } from './server_view.js';
import { VIEWS, parseState, printState } from './state.js';
import { TimePicker } from './time_picker.js';
import { startTheme, toggleTheme } from './theme.js';

// As many as a screen can show side by side; fewer pixels show no more.
const POINTS_WISHED = 500;

let state;
let notRead = ''; // of the address: what is wrong with it
let running = null; // { text, controller } of the query that is on its way
let refreshTimer = 0;

startTheme();
const chart = new Chart(byId('chart'), {
  onZoom: (from, to) => zoom(from, to),
  onPoint: (index) => legend.point(index),
  onPick: (ms, isEnd) => notes.pick(ms, isEnd),
});
const legend = new Legend(byId('legend'), chart);
const builder = new Builder(byId('subs'), {
  onChange: () => changed(),
  onActive: () => explore.showTags(builder.activeSub()),
});
const times = new TimePicker(byId('times'), (change) => changed(change));
const explore = new Explore(byId('explore'), { onMetric: chooseMetric, onTag: chooseTag });
const notes = new Notes(byId('notes'), {
  beginMs: () => chart.pointedMs() ?? Math.min(chart.range[1], Date.now()),
  onChange: () => changed({ annotations: true }),
  onForm: (times) => chart.mark(times),
});
const server = new ServerView(byId('view-server'));

// ---- The state ----

/** From the address: at the start, and when the browser goes back. */
function readAddress() {
  const read = parseState(location.hash);
  state = read.state;
  builder.show(state);
  times.show(state);
  showView();
  notRead = read.wrong.join('; ');
  ask();
}

/** The state was changed, or is by this: it is kept in the address and asked for. */
function changed(change = {}) {
  Object.assign(state, change);
  const address = printState(state);
  notRead = '';
  if (address !== location.hash) history.pushState({ pushed: true }, '', address);
  times.show(state);
  ask();
}

function zoom(fromMs, toMs_) {
  if (toMs_ > fromMs) changed({ start: String(fromMs), end: String(toMs_) });
}

function chooseMetric(name, add) {
  if (add && builder.activeSub().metric !== '') return builder.add(newSubQuery(name));
  // Filters are of another metric's tags.
  Object.assign(builder.activeSub(), { metric: name, filters: [] });
  builder.changed();
}

/**
 * Of the sub-query whose tags are shown. Another value of the same tag is one more, as long as they
 * are plain.
 */
function chooseTag(sub, key, value) {
  const { filters } = sub;
  const found = filters.find((filter) => filter.tagk === key);
  if (value === null || !found || found.type !== 'literal_or') {
    const wanted =
      value === null ? { type: 'wildcard', filter: '*' } : { type: 'literal_or', filter: value };
    if (found) Object.assign(found, wanted, { groupBy: true });
    else filters.push({ tagk: key, groupBy: true, ...wanted });
  } else {
    const values = new Set(found.filter.split('|'));
    if (!values.delete(value)) values.add(value);
    found.filter = [...values].join('|');
    if (values.size === 0) filters.splice(filters.indexOf(found), 1);
  }
  builder.changed();
}

// ---- Asking and showing ----

const askSoon = settled(() => released().then(askNow), 30);

function ask() {
  clearTimeout(refreshTimer);
  byId('chart').classList.add('busy');
  askSoon();
}

async function askNow() {
  clearTimeout(refreshTimer);
  if (state.view !== 'graph') return abort();
  explore.showTags(builder.activeSub());
  const now = Date.now();
  const asked = resolve(state, now, POINTS_WISHED);
  showRequest(byId('request-texts'), asked);
  if (!asked.subs.some((sub) => sub.metric)) {
    abort();
    showNothing();
    return say(notRead);
  }
  const body = queryBody(asked);
  const text = JSON.stringify(body);
  // A server may refuse the same query of the same client beside the first one, even one that was
  // given up a moment ago.
  if (running?.text === text) return;
  abort();
  const own = (running = { text, controller: new AbortController() });
  const { signal } = own.controller;
  const began = performance.now();
  try {
    const answer = await api.query(body, signal);
    const arrived = performance.now();
    await released();
    if (signal.aborted) return;
    const subs = askedSubs(asked).map((sub) => ({
      letter: letterOf(asked.subs.indexOf(sub)),
      right: sub.right,
    }));
    const columns = toColumns(answer, subs);
    show(columns, rangeOf(asked, now, columns.times), arrived - began);
    say(notRead);
  } catch (error) {
    if (signal.aborted) return;
    showNothing();
    const why =
      error instanceof ApiError ? error.message : `The server does not answer: ${error.message}`;
    say([notRead, why].filter(Boolean).join('; '));
  } finally {
    if (running === own) running = null;
  }
  byId('chart').classList.remove('busy');
  if (state.refresh > 0) refreshTimer = setTimeout(refresh, state.refresh * 1000);
}

function abort() {
  running?.controller.abort();
  running = null;
}

/** Once somebody looks. */
function refresh() {
  if (state.refresh === 0) return;
  if (!document.hidden) return ask();
  document.addEventListener('visibilitychange', refresh, { once: true });
}

function show(columns, range, tookMs) {
  chart.show(columns, range);
  legend.show(columns);
  notes.show(columns.annotations);
  const points = columns.series.reduce(
    (sum, one) => sum + one.values.filter((value) => value !== undefined).length,
    0,
  );
  const facts =
    columns.series.length === 0
      ? 'No points in this range'
      : `${columns.series.length} series, ${points} points, ${Math.round(tookMs)} ms`;
  byId('facts').replaceChildren(
    facts,
    element(
      'label',
      { class: 'check' },
      element('input', {
        type: 'checkbox',
        id: 'logarithmic',
        checked: chart.logarithmic,
        onchange: (event) => chart.setLogarithmic(event.target.checked),
      }),
      ' logarithmic',
    ),
  );
}

function showNothing() {
  chart.clear();
  legend.clear();
  notes.show(null);
  byId('chart').classList.remove('busy');
  byId('facts').replaceChildren('Choose a metric on the left, or type one above.');
}

/** What went wrong; "" takes it away. */
function say(text) {
  byId('message').hidden = text === '';
  byId('message').textContent = text;
}

// ---- Views, keys, start ----

function showView() {
  for (const view of VIEWS) {
    byId(`view-${view}`).hidden = state.view !== view;
    byId(`to-${view}`).setAttribute('aria-current', String(state.view === view));
  }
  server.setShown(state.view === 'server');
}

function goTo(view) {
  changed({ view });
  showView();
}

const showHelp = startKeys(
  [
    { key: '/', title: 'search metrics', run: () => byId('search').focus() },
    { key: 'r', title: 'ask again', run: ask },
    { key: 'a', title: 'another sub-query', run: () => builder.add() },
    { key: 'n', title: 'an annotation, where the pointer is', run: () => notes.openNew() },
    { key: '[', title: 'earlier', run: () => times.move(-0.5) },
    { key: ']', title: 'later', run: () => times.move(0.5) },
    { key: '-', title: 'a wider range', run: () => times.scale(2) },
    { key: '+', title: 'a narrower range', run: () => times.scale(0.5) },
    { key: 'g', title: 'the graph', run: () => goTo('graph') },
    { key: 's', title: 'the server', run: () => goTo('server') },
    { key: 't', title: 'dark or light', run: toggleTheme },
  ],
  byId('keys'),
);

byId('theme').addEventListener('click', toggleTheme);
byId('help').addEventListener('click', showHelp);
byId('add-sub').addEventListener('click', () => builder.add());
byId('chart').addEventListener('dblclick', () => {
  // Not out of this page, which the first address of it would be.
  if (history.state !== null) history.back();
});
for (const view of VIEWS) byId(`to-${view}`).addEventListener('click', () => goTo(view));
addEventListener('popstate', readAddress);

const failed = (error) => say(error.message);
readAddress();
explore.look().catch(failed);
builder.load().catch(failed);
api
  .user()
  .then(({ roles, mode }) => notes.allow(roles.includes('write') && mode !== 'ro'))
  .catch(failed);
api
  .version()
  .then(({ version }) => {
    byId('version').textContent = `OpenTSDB API ${version}`;
  })
  .catch(failed);
