// From the answers of /api/stats to figures a person asks for: totals become rates, sizes stand
// beside their limits.

// Ten minutes of one sample every other second.
const SAMPLES_MAX = 300;

/**
 * What /api/stats answered, by name and the one tag that tells equal names apart: "rpc.received
 * type=http" → 12.
 */
export function readStats(points) {
  const values = new Map();
  for (const { metric, value, tags } of points) {
    const own = Object.entries(tags).filter(
      ([key]) => !['host', 'fqdn', 'port', 'class'].includes(key),
    );
    const name = [metric.replace(/^tsd\./, ''), ...own.map(([key, text]) => `${key}=${text}`)].join(
      ' ',
    );
    values.set(name, Number(value));
  }
  return values;
}

/** Samples of the last minutes, the oldest first. */
export class History {
  constructor() {
    this.samples = [];
  }

  /** atMs: when the values were asked for. */
  add(atMs, values) {
    const last = this.samples.at(-1);
    // Totals that went back: another process answers now, whose past is not that of the one before.
    if (last && TOTALS.some((name) => values.get(name) < last.values.get(name))) this.samples = [];
    this.samples.push({ atMs, values });
    if (this.samples.length > SAMPLES_MAX) this.samples.shift();
  }

  get(name) {
    return this.samples.at(-1)?.values.get(name) ?? null;
  }

  /** Of a total, per second, since the sample before; null before there are two. */
  rate(name, index = this.samples.length - 1) {
    if (index < 1) return null;
    const [before, after] = [this.samples[index - 1], this.samples[index]];
    const [from, to] = [before.values.get(name), after.values.get(name)];
    if (from === undefined || to === undefined || after.atMs <= before.atMs) return null;
    return ((to - from) * 1000) / (after.atMs - before.atMs);
  }

  /** [times in seconds, values] for a small graph. */
  columns(valueAt) {
    return [
      this.samples.map((sample) => sample.atMs / 1000),
      this.samples.map((sample, i) => valueAt(sample, i)),
    ];
  }
}

const POINTS = 'datapoints.added type=all';
const REQUESTS = 'rpc.received type=http';
const TOTALS = [POINTS, REQUESTS];

/** The figures with a small graph: { title, unit, value(history), column(history) }. */
export const GRAPHS = [
  rateOf('points written', 'points/s', POINTS),
  rateOf('HTTP requests', 'requests/s', REQUESTS),
  gaugeOf('latency, 95 of 100 requests', 'ms', 'http.latency_95pct type=all'),
  gaugeOf('memory of the process', 'bytes', 'jvm.ramused'),
];

function rateOf(title, unit, name) {
  return {
    title,
    unit,
    value: (history) => history.rate(name),
    column: (history) => history.columns((_, i) => history.rate(name, i)),
  };
}

function gaugeOf(title, unit, name) {
  return {
    title,
    unit,
    value: (history) => history.get(name),
    column: (history) => history.columns((sample) => sample.values.get(name) ?? null),
  };
}

/** What fills: { title, taken, limit }. */
export const METERS = [
  {
    title: 'points not in files yet',
    taken: 'storage.memory.bytes',
    limit: 'storage.memory.limit',
  },
  {
    title: 'memory of queries',
    taken: 'query.memory type=taken',
    limit: 'query.memory type=limit',
  },
];

/**
 * Plain figures, in groups: [title, [[label, name, 'bytes' or 'number'], …]]. Names that a store
 * does not tell are left out.
 */
export const FIGURES = [
  [
    'Store',
    [
      ['series', 'storage.series', 'number'],
      ['regions', 'storage.regions', 'number'],
      ['files', 'storage.files', 'number'],
      ['bytes of files', 'storage.files.bytes', 'bytes'],
      ['log', 'storage.log.bytes', 'bytes'],
      ['registry of series', 'storage.registry.bytes', 'bytes'],
      ['block cache', 'storage.block_cache.bytes', 'bytes'],
    ],
  ],
  [
    'Work on files since the start',
    [
      ['flushes', 'storage.flushes', 'number'],
      ['written by flushes', 'storage.flushes.bytes', 'bytes'],
      ['merges', 'storage.merges', 'number'],
      ['read by merges', 'storage.merges.bytes_read', 'bytes'],
      ['written by merges', 'storage.merges.bytes_written', 'bytes'],
      ['regions divided', 'storage.splits', 'number'],
      ['rows that wait to be folded', 'compaction.queue.size', 'number'],
      ['rows folded', 'compaction.rewritten', 'number'],
    ],
  ],
  [
    'Clients',
    [
      ['connections', 'connectionmgr.connections type=open', 'number'],
      ['connections so far', 'connectionmgr.connections type=total', 'number'],
      ['latency, half of the requests (ms)', 'http.latency_50pct type=all', 'number'],
      ['queries answered', 'http.query.success', 'number'],
      ['queries refused', 'http.query.invalid_requests', 'number'],
      ['queries failed', 'http.query.exceptions', 'number'],
      ['points refused for want of memory', 'rpc.errors type=socket_writes_blocked', 'number'],
      ['large queries at work', 'query.large state=working', 'number'],
      ['large queries that wait', 'query.large state=waiting', 'number'],
      ['cache of old hours', 'query.cache.bytes', 'bytes'],
    ],
  ],
  [
    'Names',
    [
      ['metrics', 'uid.ids-used kind=metrics', 'number'],
      ['tag keys', 'uid.ids-used kind=tagk', 'number'],
      ['tag values', 'uid.ids-used kind=tagv', 'number'],
    ],
  ],
];

/** 1 while the last flush or merge has failed: the log says why, and it is tried again. */
export const BROKEN = 'storage.background_errors';
