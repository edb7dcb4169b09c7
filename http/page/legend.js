// The table below the graph: a line for each series. Click hides one, double click leaves it alone.

import { summary } from './answer.js';
import { seriesColor } from './chart.js';
import { element } from './dom.js';
import { formatNumber } from './numbers.js';

// Elements that nobody scrolls through cost time all the same.
const LINES_MAX = 1000;
const FIGURES = ['last', 'min', 'mean', 'max'];

export class Legend {
  constructor(container, chart) {
    this.container = container;
    this.chart = chart;
    this.lines = [];
    document.addEventListener('themechange', () => this.paint());
  }

  show(columns) {
    const shown = columns.series.slice(0, LINES_MAX);
    this.lines = shown.map((one, i) => this.line(one, i));
    const head = element(
      'tr',
      {},
      element('th', { scope: 'col' }, `${columns.series.length} series`),
      ...FIGURES.map((name) => element('th', { scope: 'col' }, name)),
    );
    const rest = columns.series.length - shown.length;
    this.container.replaceChildren(
      element('table', {}, element('thead', {}, head), element('tbody', {}, ...this.lines)),
      rest > 0 ? `and ${rest} more` : '',
    );
    this.mark();
    this.paint();
  }

  line(one, index) {
    const figures = summary(one.values);
    const name = element(
      'button',
      { class: 'series', 'aria-pressed': 'true', title: this.titleOf(one) },
      element('span', { class: 'swatch' }),
      one.label,
    );
    const line = element(
      'tr',
      {},
      element('td', {}, name),
      ...FIGURES.map((figure) =>
        element('td', { title: figures[figure] }, formatNumber(figures[figure])),
      ),
    );
    name.addEventListener('click', (event) => {
      // The second of two takes back what the first one did.
      if (!event.shiftKey) this.chart.toggle(index);
      if (event.shiftKey || event.detail === 2) this.chart.only(index);
      this.mark();
    });
    return line;
  }

  titleOf(one) {
    const folded =
      one.aggregateTags.length > 0 ? `; over all of ${one.aggregateTags.join(', ')}` : '';
    return `${one.metric}${folded}. Click hides it, double click or shift leaves it alone`;
  }

  mark() {
    this.lines.forEach((line, i) => {
      line.querySelector('button').setAttribute('aria-pressed', String(!this.chart.hidden.has(i)));
    });
  }

  /** index of a series, or null. */
  point(index) {
    this.pointed?.classList.remove('pointed');
    this.pointed = index === null ? null : this.lines[index];
    this.pointed?.classList.add('pointed');
  }

  paint() {
    this.lines.forEach((line, i) => {
      line.querySelector('.swatch').style.backgroundColor = seriesColor(i);
    });
  }

  clear() {
    this.lines = [];
    this.container.replaceChildren();
  }
}
