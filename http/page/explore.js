// The metrics of the server, to look through and to click.

import { api } from './api.js';
import { element, settled } from './dom.js';

// As many are asked for at once; if there are more, what is typed is looked for as the beginning of
// a name.
const NAMES_MAX = 5000;
const SHOWN_MAX = 300;
const VALUES_MAX = 50;

const DELETED = 'The id of a name that was deleted';

export class Explore {
  /**
   * onMetric(name, add): it was clicked; add: as another sub-query. onTag(sub, key, value): a tag of
   * the sub-query whose tags are shown; value null: all of them, one line each.
   */
  constructor(container, { onMetric, onTag }) {
    this.onMetric = onMetric;
    this.onTag = onTag;
    this.sub = null;
    this.looking = null;
    this.counting = null;
    this.names = [];
    this.whole = false;
    this.search = element('input', {
      type: 'search',
      id: 'search',
      placeholder: 'metrics ( / )',
      'aria-label': 'Search metrics',
      autocomplete: 'off',
      spellcheck: 'false',
    });
    this.list = element('ul', { class: 'names' });
    this.count = element('p', { class: 'soft', role: 'status' });
    this.tags = element('div', { class: 'tags' });
    container.append(this.search, this.list, this.count, this.tags);
    const look = settled(() => this.look(), 150);
    this.search.addEventListener('input', () => (this.whole ? this.listNames() : look()));
    container.addEventListener('keydown', (event) => this.move(event));
  }

  async look() {
    const typed = this.whole ? '' : this.search.value.trim();
    this.looking?.abort();
    const { signal } = (this.looking = new AbortController());
    let names;
    try {
      names = await api.suggest('metrics', typed, NAMES_MAX, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    if (signal.aborted) return;
    this.names = names;
    this.whole = typed === '' && names.length < NAMES_MAX;
    this.listNames();
  }

  listNames() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.names.filter((name) =>
      words.every((word) => name.toLowerCase().includes(word)),
    );
    this.list.replaceChildren(...found.slice(0, SHOWN_MAX).map((name) => this.line(name)));
    const more = found.length > SHOWN_MAX ? `; the first ${SHOWN_MAX} are shown` : '';
    this.count.textContent = `${found.length}${this.whole ? '' : ' or more'} metrics${more}`;
  }

  line(name) {
    const choose = (add) => this.onMetric(name, add);
    return element(
      'li',
      { 'data-metric': name },
      element(
        'button',
        {
          class: 'name',
          title: 'Show it',
          'aria-current': String(name === this.metric),
          onclick: (event) => choose(event.shiftKey),
        },
        name,
      ),
      element(
        'button',
        {
          class: 'more',
          title: 'Add it as another sub-query',
          'aria-label': `Add ${name}`,
          onclick: () => choose(true),
        },
        '+',
      ),
    );
  }

  /**
   * Shows how many series a sub-query's metric has, and how they spread over its tags; nothing if it
   * has none.
   */
  async showTags(sub) {
    this.sub = sub;
    const { metric } = sub;
    if (metric === this.metric) return;
    this.metric = metric;
    this.counting?.abort();
    this.tags.replaceChildren();
    for (const name of this.list.querySelectorAll('.name'))
      name.setAttribute('aria-current', String(name.textContent === metric));
    if (metric === '') return;
    const { signal } = (this.counting = new AbortController());
    let counts;
    try {
      counts = await api.tagCounts(metric, VALUES_MAX, signal);
    } catch (error) {
      if (signal.aborted) return;
      return this.tags.append(
        element('b', {}, metric),
        element('p', { class: 'soft', role: 'status' }, `Its tags: ${error.message}`),
      );
    }
    if (signal.aborted) return;
    this.tags.append(
      element('b', {}, metric),
      element('p', { class: 'soft' }, `${counts.series} series`),
      ...counts.tags.map((tag) => this.tag(tag, counts.series)),
    );
  }

  tag({ key, deleted, series, values, largest }, all) {
    const part = series === all ? '' : `, in ${series} series`;
    const more = values - largest.length;
    return element(
      'details',
      { 'data-key': key, open: values <= 10 },
      element(
        'summary',
        {},
        element(
          'button',
          {
            class: 'key',
            disabled: deleted,
            title: deleted ? DELETED : 'A line for each value',
            onclick: () => this.onTag(this.sub, key, null),
          },
          key,
        ),
        element(
          'span',
          { class: 'soft' },
          ` ${values} ${values === 1 ? 'value' : 'values'}${part}`,
        ),
      ),
      element(
        'ul',
        { class: 'values' },
        ...largest.map(({ value, deleted: gone, series: count }) =>
          element(
            'li',
            {},
            element(
              'button',
              {
                class: 'value',
                disabled: deleted || gone,
                title: gone ? DELETED : 'Only this value',
                onclick: () => this.onTag(this.sub, key, value),
              },
              value,
            ),
            element('span', { class: 'soft' }, String(count)),
          ),
        ),
        more > 0 ? element('li', { class: 'soft' }, `and ${more} more`) : null,
      ),
    );
  }

  /** Arrows walk through the list. */
  move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const stops = [
      this.search,
      ...this.list.querySelectorAll('.name'),
      ...this.tags.querySelectorAll('.key, details[open] .value'),
    ];
    const next = stops[stops.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
}
