import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GRAPHS, History, readStats } from '../../../http/page/stats.js';

const point = (metric, value, tags = {}) => ({
  metric: `tsd.${metric}`,
  timestamp: 1,
  value: String(value),
  tags: { host: 'db', ...tags },
});
const stats = (points, requests = 0) =>
  readStats([
    point('datapoints.added', points, { type: 'all', class: 'TSDB' }),
    point('rpc.received', requests, { type: 'http' }),
  ]);

test('statistics are known by name and their own tag', () => {
  assert.deepEqual(
    [
      ...readStats([
        point('rpc.received', 5, { type: 'put' }),
        point('storage.files', 7),
        point('uid.ids-used', 3, { kind: 'tagk' }),
      ]),
    ],
    [
      ['rpc.received type=put', 5],
      ['storage.files', 7],
      ['uid.ids-used kind=tagk', 3],
    ],
  );
});

test('totals are shown as rates, from the second sample on', () => {
  const history = new History();
  const [written] = GRAPHS;
  history.add(10000, stats(100));
  assert.equal(written.value(history), null);
  history.add(12000, stats(500));
  assert.equal(written.value(history), 200);
  assert.deepEqual(written.column(history), [
    [10, 12],
    [null, 200],
  ]);
});

test('a server that was started again has no negative rates', () => {
  const history = new History();
  history.add(10000, stats(100, 9));
  history.add(12000, stats(3, 1));
  assert.equal(history.samples.length, 1);
  history.add(14000, stats(5, 2));
  assert.equal(GRAPHS[0].value(history), 1);
});

test('no more than the last minutes are kept, and what is unknown is none', () => {
  const history = new History();
  for (let i = 0; i < 1000; i++) history.add(i * 2000, stats(i));
  assert.equal(history.samples.length, 300);
  assert.equal(history.get('storage.files'), null);
  assert.equal(history.rate('storage.files'), null);
});
