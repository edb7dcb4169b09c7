// A figure of the server's, and how it was in the last minutes.

import { element } from './dom.js';
import { formatBytes, formatNumber } from './numbers.js';
import { themeColor } from './theme.js';

/** graph: one of stats.js' GRAPHS. */
export class SmallGraph {
  constructor(graph) {
    this.graph = graph;
    this.figure = element('output', {});
    this.area = element('div', { class: 'small-graph' });
    this.card = element(
      'section',
      { class: 'card' },
      element('span', { class: 'soft' }, graph.title),
      this.figure,
      this.area,
    );
    this.plot = null;
  }

  draw(history) {
    const { unit, value, column } = this.graph;
    this.figure.textContent =
      unit === 'bytes' ? formatBytes(value(history)) : `${formatNumber(value(history))} ${unit}`;
    this.plot?.destroy();
    const side = { show: false };
    this.plot = new globalThis.uPlot(
      {
        width: this.area.clientWidth || 200,
        height: 60,
        legend: { show: false },
        cursor: { show: false },
        axes: [side, side],
        scales: { y: { range: (_, min, max) => [0, Math.max(max ?? 0, 1) * 1.1] } },
        series: [
          {},
          {
            stroke: themeColor('--accent'),
            fill: themeColor('--grid'),
            width: 1.5,
            points: { show: false },
          },
        ],
      },
      column(history),
      this.area,
    );
  }
}
