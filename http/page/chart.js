// The graph: uPlot, fed with what answer.js made. Dragging asks for another range of time; the
// pointer tells the nearest point. Colours come from page.css, so it is made anew when the theme
// changes.

import { element } from './dom.js';
import { formatNumber } from './numbers.js';
import { formatTime } from './times.js';
import { themeColor } from './theme.js';

const HEIGHT_PX = 380;
// Above this many series points are not marked, nor are lines dimmed under the pointer: each costs
// a drawing of all.
const SERIES_FEW = 40;
const NEAR_PX = 30;
// A pointer that moved less has clicked.
const DRAG_PX = 4;
// uPlot's table of what an axis of time says, with 24 hours a day: from seconds between ticks on,
// then the text, and the text where a new year, day or minute begins.
const YEAR = '\n{YYYY}',
  DAY = '\n{YYYY}-{MM}-{DD}',
  CLOCK = '{HH}:{mm}';
const AXIS_TEXTS = [
  [86400 * 365, '{YYYY}', null, null, null, null, null, null, 1],
  [86400 * 28, '{MMM}', YEAR, null, null, null, null, null, 1],
  [86400, '{MM}-{DD}', YEAR, null, null, null, null, null, 1],
  [60, CLOCK, DAY, null, DAY, null, null, null, 1],
  [1, `${CLOCK}:{ss}`, DAY, null, DAY, null, null, null, 1],
  [0.001, ':{ss}.{fff}', `${DAY} ${CLOCK}`, null, `${DAY} ${CLOCK}`, null, `\n${CLOCK}`, null, 1],
];

/** Neighbours are far apart on the wheel of colours, whatever their number. */
export function seriesColor(index) {
  const hue = Math.round((210 + index * 137.508) % 360);
  return `hsl(${hue} 65% ${themeColor('--line-lightness')})`;
}

/** What a series is known by from one answer to the next. */
function keyOf({ sub, metric, tags }) {
  return JSON.stringify([sub, metric, Object.entries(tags).sort()]);
}

export class Chart {
  /**
   * onZoom(startMs, endMs): a range was dragged over. onPoint(series index or null): what the
   * pointer is at. onPick(ms, whether Shift was down): a time was clicked. The element has the chart as its property `chart`, for whoever looks from
   * outside.
   */
  constructor(container, { onZoom, onPoint, onPick }) {
    this.container = container;
    this.onZoom = onZoom;
    this.onPoint = onPoint;
    this.onPick = onPick;
    this.marked = null; // [startMs, endMs] of an annotation that is being written
    this.plot = null;
    this.columns = null;
    this.keys = []; // of the series shown last
    this.hidden = new Set(); // of their indexes
    this.logarithmic = false;
    this.tip = element('div', { class: 'tip', hidden: true });
    container.chart = this;
    new ResizeObserver(() => this.resize()).observe(container);
    document.addEventListener('themechange', () => this.draw());
  }

  /** What uPlot holds: [times in seconds, values of the first series, …]. */
  get data() {
    return this.plot ? this.plot.data : [];
  }

  /** columns: of answer.js. range: [startMs, endMs] of the axis of time. */
  show(columns, range) {
    this.columns = columns;
    this.range = range;
    // Who looks at a few of them goes on to, also where the answer is a newer one.
    const keys = columns.series.map(keyOf);
    const before = new Set([...this.hidden].map((index) => this.keys[index]));
    this.keys = keys;
    this.hidden = new Set([...keys.keys()].filter((index) => before.has(keys[index])));
    this.draw();
  }

  /** Hides or shows one series. */
  toggle(index) {
    if (!this.hidden.delete(index)) this.hidden.add(index);
    this.plot?.setSeries(index + 1, { show: !this.hidden.has(index) });
  }

  /** Leaves this one alone visible; again: all. */
  only(index) {
    const alone = this.hidden.size === this.columns.series.length - 1 && !this.hidden.has(index);
    this.hidden = new Set(alone ? [] : this.columns.series.keys());
    if (!alone) this.hidden.delete(index);
    this.draw();
  }

  setLogarithmic(on) {
    this.logarithmic = on;
    this.draw();
  }

  clear() {
    this.plot?.destroy();
    this.plot = null;
    this.columns = null;
  }

  resize() {
    const width = this.container.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) {
      this.plot.setSize({ width, height: HEIGHT_PX });
    }
  }

  draw() {
    if (!this.columns) return;
    this.plot?.destroy();
    const { times, series } = this.columns;
    this.plot = new globalThis.uPlot(
      this.options(),
      [times, ...series.map((one) => one.values)],
      this.container,
    );
    this.plot.over.append(this.tip);
    this.listenForClicks(this.plot.over);
    this.tip.hidden = true;
  }

  listenForClicks(over) {
    let downAt = 0;
    over.addEventListener('mousedown', (event) => (downAt = event.clientX));
    over.addEventListener('click', (event) => {
      if (Math.abs(event.clientX - downAt) >= DRAG_PX) return;
      const left = event.clientX - over.getBoundingClientRect().left;
      this.onPick(Math.round(this.plot.posToVal(left, 'x') * 1000), event.shiftKey);
    });
  }

  /** The time under the pointer, in ms; null: it is elsewhere. */
  pointedMs() {
    const left = this.plot?.cursor.left ?? -1;
    return left < 0 ? null : Math.round(this.plot.posToVal(left, 'x') * 1000);
  }

  /** Times to be seen before they are saved; null: none. */
  mark(times) {
    this.marked = times;
    this.plot?.redraw(false);
  }

  options() {
    const { series } = this.columns;
    const few = series.length <= SERIES_FEW;
    const ink = themeColor('--ink'),
      grid = { stroke: themeColor('--grid'), width: 1 };
    const axis = { stroke: ink, grid, ticks: grid };
    const values = {
      ...axis,
      scale: 'y',
      size: 70,
      values: (_, ticks) => ticks.map((tick) => (tick === null ? '' : formatNumber(tick))),
    };
    return {
      width: this.container.clientWidth,
      height: HEIGHT_PX,
      legend: { show: false },
      cursor: {
        drag: { x: true, y: false, setScale: false },
        points: { show: few },
        focus: { prox: few ? NEAR_PX : -1 },
      },
      focus: { alpha: 0.3 },
      scales: {
        x: { time: true, range: () => [this.range[0] / 1000, this.range[1] / 1000] },
        y: this.logarithmic ? { distr: 3 } : {},
        right: this.logarithmic ? { distr: 3 } : {},
      },
      axes: [
        { ...axis, values: AXIS_TEXTS },
        values,
        {
          ...values,
          scale: 'right',
          side: 1,
          grid: { show: false },
          show: series.some((one) => one.right),
        },
      ],
      series: [
        {},
        ...series.map((one, i) => ({
          label: one.label,
          scale: one.right ? 'right' : 'y',
          stroke: seriesColor(i),
          width: few ? 1.5 : 1,
          show: !this.hidden.has(i),
          points: few ? {} : { show: false },
        })),
      ],
      hooks: {
        setSelect: [(plot) => this.zoom(plot)],
        setCursor: [(plot) => this.point(plot)],
        draw: [(plot) => this.drawAnnotations(plot)],
      },
    };
  }

  zoom(plot) {
    const { left, width } = plot.select;
    if (width < DRAG_PX) return;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.onZoom(
      Math.round(plot.posToVal(left, 'x') * 1000),
      Math.round(plot.posToVal(left + width, 'x') * 1000),
    );
  }

  /** The series whose line is nearest to the pointer there; null if none is near. */
  nearest(plot, idx, top) {
    let best = null,
      distance = NEAR_PX;
    for (let i = 1; i < plot.data.length; i++) {
      const value = plot.data[i][idx];
      if (!plot.series[i].show || typeof value !== 'number') continue;
      const away = Math.abs(plot.valToPos(value, plot.series[i].scale) - top);
      if (away < distance) [best, distance] = [i - 1, away];
    }
    return best;
  }

  point(plot) {
    const { idx, top, left } = plot.cursor;
    const index =
      idx === null || idx === undefined || top < 0 ? null : this.nearest(plot, idx, top);
    this.tip.hidden = index === null;
    this.onPoint(index);
    if (index === null) return;
    const value = plot.data[index + 1][idx];
    this.tip.replaceChildren(
      element('b', {}, String(value)),
      ` ${this.columns.series[index].label}`,
      element('br'),
      formatTime(Math.round(plot.data[0][idx] * 1000)),
    );
    const right = left > plot.over.clientWidth / 2;
    this.tip.classList.toggle('to-left', right);
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${Math.max(0, top - 50)}px`;
  }

  drawAnnotations(plot) {
    const { ctx, bbox } = plot;
    const lines = this.columns.annotations.map((one) => ({ ...one, color: '--note' }));
    if (this.marked) {
      const [startMs, endMs] = this.marked;
      lines.push({ startMs, endMs, color: '--accent' });
    }
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const { startMs, endMs, color } of lines) {
      ctx.strokeStyle = ctx.fillStyle = themeColor(color);
      const x = plot.valToPos(startMs / 1000, 'x', true);
      if (endMs > startMs) {
        ctx.globalAlpha = 0.12;
        ctx.fillRect(x, bbox.top, plot.valToPos(endMs / 1000, 'x', true) - x, bbox.height);
        ctx.globalAlpha = 1;
      }
      if (!(x >= bbox.left && x <= bbox.left + bbox.width)) continue;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }
}
