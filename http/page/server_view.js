// How the server is: asked every other second while somebody looks.

import { api } from './api.js';
import { element, keepFocus } from './dom.js';
import { printExpression } from './expression.js';
import { formatBytes, formatNumber } from './numbers.js';
import { SmallGraph } from './small_graph.js';
import { BROKEN, FIGURES, GRAPHS, History, METERS, readStats } from './stats.js';
import { formatTime } from './times.js';

const EVERY_MS = 2000;
const FINISHED_SHOWN = 10;

const formatted = (value, unit) => (unit === 'bytes' ? formatBytes(value) : formatNumber(value));

export class ServerView {
  constructor(container) {
    this.container = container;
    this.history = new History();
    this.graphs = GRAPHS.map((graph) => new SmallGraph(graph));
    this.message = element('p', { class: 'message', role: 'alert', hidden: true });
    this.meters = element('section', { 'aria-label': 'Budgets' });
    this.running = element('section', { id: 'running', 'aria-label': 'Queries' });
    this.figures = element('div', { class: 'cards' });
    this.regions = element('section', { id: 'regions', 'aria-label': 'Regions' });
    container.append(
      this.message,
      element('div', { class: 'cards' }, ...this.graphs.map((graph) => graph.card)),
      this.running,
      this.meters,
      this.figures,
      this.regions,
    );
    this.notEnded = null; // { id, text }: why
    this.timer = 0;
    this.shown = false;
    document.addEventListener('visibilitychange', () => this.look());
    document.addEventListener('themechange', () =>
      this.graphs.forEach((graph) => graph.draw(this.history)),
    );
  }

  setShown(shown) {
    this.shown = shown;
    this.look();
  }

  async look() {
    clearTimeout(this.timer);
    if (!this.shown || document.hidden) return;
    try {
      const [stats, queries, regions] = await Promise.all([
        api.stats(),
        api.queries(),
        regionsOrWhyNot(),
      ]);
      this.history.add(Date.now(), readStats(stats));
      this.show(queries, regions);
    } catch (error) {
      this.say(`The server does not answer: ${error.message}`);
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), EVERY_MS);
  }

  say(text) {
    this.message.hidden = text === '';
    this.message.textContent = text;
  }

  show(queries, regions) {
    // Why a query could not be ended stays as long as it runs.
    if (!queries.running.some((query) => query.id === this.notEnded?.id)) this.notEnded = null;
    const broken = this.history.get(BROKEN)
      ? 'A flush or a merge has failed and is tried again: the log of the server says why.'
      : '';
    this.say([this.notEnded?.text, broken].filter(Boolean).join(' '));
    this.graphs.forEach((graph) => graph.draw(this.history));
    this.meters.replaceChildren(...METERS.map((meter) => this.meter(meter)));
    this.figures.replaceChildren(
      ...FIGURES.map(([title, lines]) => this.group(title, lines)).filter(Boolean),
    );
    keepFocus(this.running, () => this.showQueries(queries));
    this.showRegions(regions);
  }

  meter({ title, taken, limit }) {
    const [value, most] = [this.history.get(taken), this.history.get(limit)];
    if (value === null || most === null) return '';
    if (most === 0)
      return element('span', { class: 'meter' }, `${title}: ${formatBytes(value)}, no limit`);
    return element(
      'label',
      { class: 'meter' },
      `${title}: ${formatBytes(value)} of ${formatBytes(most)} `,
      element('meter', { min: 0, max: most, high: most * 0.85, value }),
    );
  }

  group(title, lines) {
    const known = lines.filter(([, name]) => this.history.get(name) !== null);
    if (known.length === 0) return null;
    return element(
      'section',
      { class: 'card' },
      element('b', {}, title),
      element(
        'table',
        {},
        ...known.map(([label, name, unit]) =>
          element(
            'tr',
            {},
            element('td', {}, label),
            element('td', { 'data-name': name }, formatted(this.history.get(name), unit)),
          ),
        ),
      ),
    );
  }

  showQueries({ running, completed }) {
    // What asks for this list is no query, so an idle server has none.
    const head = (...names) =>
      element(
        'thead',
        {},
        element('tr', {}, ...names.map((name) => element('th', { scope: 'col' }, name))),
      );
    const busy = running.map((query) =>
      element(
        'tr',
        { 'data-id': query.id },
        element('td', {}, describeQuery(query.query)),
        element('td', {}, query.remote),
        element('td', {}, query.phase),
        element('td', {}, formatBytes(query.memory)),
        element('td', {}, `${formatNumber(query.elapsed / 1000, 3)} s`),
        element(
          'td',
          {},
          element(
            'button',
            {
              class: 'kill',
              'data-id': query.id,
              title: 'Ends this query',
              onclick: () => this.kill(query.id),
            },
            'Kill',
          ),
        ),
      ),
    );
    const done = completed
      .slice()
      .sort((a, b) => b.queryCompletedTimestamp - a.queryCompletedTimestamp)
      .slice(0, FINISHED_SHOWN);
    this.running.replaceChildren(
      element('b', {}, running.length === 0 ? 'No query is running' : `${running.length} running`),
      ...(running.length === 0
        ? []
        : [
            element(
              'table',
              {},
              head('query', 'client', 'phase', 'memory', 'for', ''),
              element('tbody', {}, ...busy),
            ),
          ]),
      element(
        'details',
        { open: this.running.querySelector('details')?.open ?? false },
        element('summary', {}, `the last ${done.length} that ended`),
        element(
          'table',
          {},
          head('query', 'ended', 'took', 'memory', 'status'),
          element(
            'tbody',
            {},
            ...done.map((query) =>
              element(
                'tr',
                {},
                element('td', {}, describeQuery(query.query)),
                element('td', {}, formatTime(query.queryCompletedTimestamp)),
                element(
                  'td',
                  {},
                  `${query.queryCompletedTimestamp - query.queryStartTimestamp} ms`,
                ),
                element('td', {}, formatBytes(query.memory)),
                element(
                  'td',
                  { title: query.exception === 'null' ? null : query.exception },
                  String(query.httpResponse.code),
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }

  async kill(id) {
    try {
      await api.endQuery(id);
    } catch (error) {
      // It may have ended by itself meanwhile.
      if (error.status !== 404) this.notEnded = { id, text: `Not ended: ${error.message}` };
    }
    this.look();
  }

  showRegions(regions) {
    if (typeof regions === 'string')
      return this.regions.replaceChildren(
        element('b', {}, 'Regions '),
        element('span', { class: 'soft' }, regions),
      );
    this.regions.replaceChildren(
      element('b', {}, `${regions.length} regions`),
      element(
        'table',
        {},
        element(
          'thead',
          {},
          element(
            'tr',
            {},
            ...[
              'table',
              'from',
              'to',
              'files',
              'in files',
              'in memory',
              'share',
              'writes since the start',
              'reads since the start',
            ].map((name) => element('th', { scope: 'col' }, name)),
          ),
        ),
        element(
          'tbody',
          {},
          ...regions.map((region) =>
            element(
              'tr',
              {},
              element('td', {}, region.table),
              element('td', {}, region.start || '–'),
              element('td', {}, region.stop || '–'),
              element('td', {}, formatNumber(region.files)),
              element('td', {}, formatBytes(region.file_bytes)),
              element('td', {}, formatBytes(region.memory_bytes)),
              element('td', {}, describeShare(region)),
              element('td', {}, describeWrites(region)),
              element('td', {}, describeReads(region)),
            ),
          ),
        ),
      ),
    );
  }
}

/** The share of a region in the bytes of its table, with the warning of the server. */
function describeShare({ share, warning }) {
  if (share === undefined) return '–';
  return `${formatNumber(Math.round(share * 100))} %` + (warning ? `: ${warning}` : '');
}

/** The points and cells that were written to a region, and their share in those of its table. */
function describeWrites({ writes, write_share: share }) {
  if (writes === undefined) return 'not known';
  return formatNumber(writes) + (share === undefined ? '' : ` (${Math.round(share * 100)} %)`);
}

/** The gets and scans that read a region. */
function describeReads({ reads }) {
  return reads === undefined ? 'not known' : formatNumber(reads);
}

/** The list, or a text that says why there is none. */
async function regionsOrWhyNot() {
  try {
    return await api.regions();
  } catch (error) {
    if (error.status === 403)
      return 'are shown to browsers on the same machine only (tsd.http.admin.remote lets others in)';
    if (error.status) return error.message;
    throw error;
  }
}

/** A query of /api/stats/query in the words of m=. */
function describeQuery({ start, end, queries }) {
  const expressions = queries.map((query) =>
    printExpression({
      aggregator: query.aggregator,
      metric: query.metric ?? (query.tsuids ?? []).join(','),
      downsample: query.downsample ?? '',
      explicitTags: query.explicitTags,
      valueFilter: query.valueFilter ?? '',
      rate: query.rate
        ? { counter: query.rateOptions?.counter, drop: query.rateOptions?.dropResets }
        : null,
      filters: (query.filters ?? []).map((filter) => ({ ...filter, groupBy: filter.group_by })),
    }),
  );
  return `${expressions.join('  ')}  ${start} – ${end ?? 'now'}`;
}
