// The form of a query: one block for each sub-query. It shows a state and tells what was changed;
// it keeps nothing else.

import { letterOf } from './answer.js';
import { api } from './api.js';
import { element, keepFocus, select, settled } from './dom.js';
import { newSubQuery } from './expression.js';

const INTERVALS = [
  { value: '', text: 'none' },
  { value: 'auto', text: 'auto' },
  ...['1s', '10s', '30s', '1m', '5m', '15m', '30m', '1h', '6h', '1d', '7d', '0all'].map(
    (value) => ({ value, text: value }),
  ),
];
const FILLS = [{ value: '', text: 'no fill' }, 'nan', 'null', 'zero'];
const SUGGESTED_MAX = 50;

export class Builder {
  /**
   * onChange(): the state that was shown has changed, and is to be asked for. onActive(): another
   * sub-query is meant now.
   */
  constructor(container, { onChange, onActive }) {
    this.container = container;
    this.onChange = onChange;
    this.onActive = onActive;
    this.aggregators = ['sum', 'avg', 'min', 'max', 'count', 'none'];
    this.filterTypes = ['literal_or', 'wildcard', 'regexp'];
    this.state = null;
    this.active = 0;
  }

  /** What the server knows of aggregators and filters; the form works without. */
  async load() {
    const [aggregators, filters] = await Promise.all([api.aggregators(), api.filters()]);
    this.aggregators = aggregators.sort();
    this.filterTypes = Object.keys(filters).sort();
    if (this.state) this.show(this.state);
  }

  show(state) {
    this.state = state;
    if (state.subs.length === 0) state.subs.push(newSubQuery());
    this.active = Math.min(this.active, state.subs.length - 1);
    keepFocus(this.container, () =>
      this.container.replaceChildren(...state.subs.map((sub, i) => this.block(sub, i))),
    );
  }

  /**
   * Other fields belong to it now. What is only said differently, as by typing, needs onChange
   * alone: its field is as it should be, and the pointer may be down on another.
   */
  changed() {
    this.onChange();
    // After the event that changed it: Tab moves on to a field of the form as it was.
    setTimeout(() => this.show(this.state));
  }

  /** The sub-query that clicks elsewhere mean. */
  activeSub() {
    return this.state.subs[this.active];
  }

  add(sub = newSubQuery()) {
    this.state.subs.push(sub);
    this.active = this.state.subs.length - 1;
    this.show(this.state);
    this.onChange();
    if (!sub.metric) this.container.lastElementChild.querySelector('input').focus();
  }

  remove(index) {
    this.state.subs.splice(index, 1);
    this.changed();
  }

  block(sub, index) {
    const set = (name) => (event) => {
      sub[name] = event.target.value = event.target.value.trim();
      this.onChange();
    };
    const block = element(
      'fieldset',
      { class: 'sub', 'data-index': index },
      element('legend', {}, letterOf(index)),
      element(
        'div',
        { class: 'row' },
        this.named(sub.metric, 'metrics', {
          class: 'metric',
          placeholder: 'metric',
          'aria-label': 'Metric',
          onchange: set('metric'),
        }),
        labelled(
          'aggregate',
          select(this.aggregators, sub.aggregator, {
            class: 'aggregator',
            onchange: set('aggregator'),
          }),
        ),
        ...this.downsample(sub),
        ...this.rate(sub),
        labelled(
          'points',
          element('input', {
            class: 'value-filter',
            value: sub.valueFilter,
            placeholder: 'all; or >90',
            spellcheck: 'false',
            title: 'A comparison: only points that pass are looked at (>, >=, <, <=, ==, !=)',
            onchange: set('valueFilter'),
          }),
        ),
      ),
      element(
        'div',
        { class: 'row filters' },
        ...sub.filters.map((filter, i) => this.filter(sub, filter, i)),
        element('button', { class: 'add-filter', onclick: () => this.addFilter(sub) }, '+ tag'),
        sub.filters.length === 0
          ? null
          : checkbox('only these tags', sub.explicitTags, (on) => {
              sub.explicitTags = on;
              this.changed();
            }),
        element(
          'span',
          { class: 'deeds' },
          checkbox('right axis', sub.right, (on) => {
            sub.right = on;
            this.changed();
          }),
          ' ',
          element(
            'button',
            {
              class: 'copy',
              title: 'Copy this sub-query',
              onclick: () => this.add(structuredClone(sub)),
            },
            'copy',
          ),
          ' ',
          element(
            'button',
            {
              title: 'Remove this sub-query',
              'aria-label': 'Remove this sub-query',
              onclick: () => this.remove(index),
            },
            '✕',
          ),
        ),
      ),
    );
    block.addEventListener('focusin', () => {
      if (this.active === index) return;
      this.active = index;
      this.onActive();
    });
    return block;
  }

  downsample(sub) {
    const [interval, aggregator = 'avg', fill = ''] = sub.downsample.split('-');
    const change = (name) => (event) => {
      const now = { interval, aggregator, fill, [name]: event.target.value };
      sub.downsample =
        now.interval === ''
          ? ''
          : [now.interval, now.aggregator, now.fill].filter(Boolean).join('-');
      this.changed();
    };
    const parts = [
      labelled(
        'downsample',
        select(INTERVALS, interval, { class: 'interval', onchange: change('interval') }),
      ),
    ];
    if (interval !== '') {
      const functions = this.aggregators.filter((name) => name !== 'none');
      parts.push(
        select(functions, aggregator, {
          class: 'function',
          'aria-label': 'Downsampling function',
          onchange: change('aggregator'),
        }),
        select(FILLS, fill, {
          class: 'fill',
          'aria-label': 'Fill of empty intervals',
          onchange: change('fill'),
        }),
      );
    }
    return parts;
  }

  rate(sub) {
    const parts = [
      checkbox('rate', sub.rate !== null, (on) => {
        sub.rate = on ? { counter: false, drop: false, max: null, reset: null } : null;
        this.changed();
      }),
    ];
    if (sub.rate === null) return parts;
    parts.push(
      checkbox('counter', sub.rate.counter, (on) => {
        Object.assign(sub.rate, { counter: on, drop: on && sub.rate.drop });
        this.changed();
      }),
    );
    if (sub.rate.counter) {
      parts.push(
        checkbox('drop resets', sub.rate.drop, (on) => {
          sub.rate.drop = on;
          this.changed();
        }),
      );
    }
    return parts;
  }

  addFilter(sub) {
    sub.filters.push({ tagk: '', type: 'wildcard', filter: '*', groupBy: true });
    this.show(this.state);
    const filters = this.container.children[this.active].querySelectorAll('.filter');
    filters[filters.length - 1].querySelector('input').focus();
  }

  filter(sub, filter, index) {
    const isComplete = () => filter.tagk !== '' && filter.filter !== '';
    const set = (name) => (event) => {
      const before = isComplete();
      filter[name] = event.target.value = event.target.value.trim();
      // Nothing to ask for before the tag has a name.
      if (before || isComplete()) this.onChange();
    };
    const values = filter.type === 'literal_or' ? 'tagv' : null;
    return element(
      'span',
      { class: 'filter' },
      this.named(filter.tagk, 'tagk', {
        class: 'tagk',
        placeholder: 'tag',
        'aria-label': 'Tag key',
        onchange: set('tagk'),
      }),
      select(this.filterTypes, filter.type, {
        class: 'type',
        'aria-label': 'Kind of filter',
        onchange: (event) => {
          set('type')(event);
          setTimeout(() => this.show(this.state));
        },
      }),
      this.named(filter.filter, values, {
        class: 'value',
        placeholder: 'a|b',
        'aria-label': 'Filter',
        onchange: set('filter'),
      }),
      checkbox('group', filter.groupBy, (on) => {
        filter.groupBy = on;
        this.changed();
      }),
      element(
        'button',
        {
          title: 'Remove this filter',
          'aria-label': 'Remove this filter',
          onclick: () => {
            sub.filters.splice(index, 1);
            this.changed();
          },
        },
        '✕',
      ),
    );
  }

  /** A field that proposes names of that kind; kind null: none. */
  named(value, kind, attributes) {
    if (kind === null) return element('input', { value, ...attributes });
    const list = element('datalist', { id: `names-${(this.lists = (this.lists ?? 0) + 1)}` });
    let asked = null;
    const propose = settled(async (typed) => {
      asked?.abort();
      const { signal } = (asked = new AbortController());
      const names = await api.suggest(kind, typed, SUGGESTED_MAX, signal).catch(() => []);
      if (signal.aborted) return;
      list.replaceChildren(...names.map((name) => element('option', { value: name })));
    }, 120);
    const input = element('input', {
      value,
      list: list.id,
      autocomplete: 'off',
      spellcheck: 'false',
      ...attributes,
    });
    input.addEventListener('input', () => propose(input.value));
    input.addEventListener('focus', () => propose(input.value));
    return element('span', { class: 'named' }, input, list);
  }
}

function labelled(text, control) {
  return element('label', {}, `${text} `, control);
}

function checkbox(text, checked, onChange) {
  return element(
    'label',
    { class: 'check' },
    element('input', {
      type: 'checkbox',
      class: text.replaceAll(' ', '-'),
      checked,
      onchange: (event) => onChange(event.target.checked),
    }),
    ` ${text}`,
  );
}
