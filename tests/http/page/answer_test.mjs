import assert from 'node:assert/strict';
import { test } from 'node:test';

import { letterOf, summary, toColumns } from '../../../http/page/answer.js';
import { formatBytes, formatNumber } from '../../../http/page/numbers.js';

const one = (metric, tags, dps, more = {}) => ({ metric, tags, aggregateTags: [], dps, ...more });

test('series of the same times share their column', () => {
  const { times, series } = toColumns([
    one('m', { host: 'a' }, [
      [1000, 1],
      [2000, 2],
    ]),
    one('m', { host: 'b' }, [
      [1000, 3],
      [2000, 4],
    ]),
  ]);
  assert.deepEqual(times, [1, 2]);
  assert.deepEqual(
    series.map(({ label, values }) => [label, values]),
    [
      ['host=a', [1, 2]],
      ['host=b', [3, 4]],
    ],
  );
});

test('series of other times leave holes that lines go over', () => {
  const { times, series } = toColumns([
    one('m', {}, [
      [1000, 1],
      [3000, 3],
    ]),
    one('n', {}, [
      [2000, 2],
      [2500, 5],
      [3000, 4],
    ]),
  ]);
  assert.deepEqual(times, [1, 2, 2.5, 3]);
  assert.deepEqual(series[0].values, [1, undefined, undefined, 3]);
  assert.deepEqual(series[1].values, [undefined, 2, 5, 4]);
  assert.deepEqual(
    series.map(({ label }) => label),
    ['m', 'n'],
  );
});

test('what is no number breaks the line', () => {
  assert.deepEqual(
    toColumns([
      one('m', {}, [
        [1000, 'NaN'],
        [2000, null],
        [3000, 0],
      ]),
    ]).series[0].values,
    [null, null, 0],
  );
});

test('series of several sub-queries are told apart', () => {
  const { series } = toColumns([
    one('m', { a: 'x' }, [], { query: { index: 0 } }),
    one('m', { a: 'x' }, [], { query: { index: 1 } }),
  ]);
  assert.deepEqual(
    series.map(({ sub, label }) => [sub, label]),
    [
      [0, 'A a=x'],
      [1, 'B a=x'],
    ],
  );
  const named = toColumns(
    [one('m', {}, [], { query: { index: 0 } }), one('n', {}, [], { query: { index: 1 } })],
    [
      { letter: 'A', right: false },
      { letter: 'C', right: true },
    ],
  ).series;
  assert.deepEqual(
    named.map(({ label, right }) => [label, right]),
    [
      ['A m', false],
      ['C n', true],
    ],
  );
  assert.deepEqual([25, 26, 27].map(letterOf), ['Z', 'A1', 'B1']);
});

test('an annotation of many series is one; seconds and milliseconds are told apart', () => {
  const note = { startTime: 1700000000, endTime: 0, description: 'deploy' };
  const { annotations } = toColumns([
    one('m', {}, [], { globalAnnotations: [note] }),
    one('n', {}, [], {
      globalAnnotations: [note],
      annotations: [
        { tsuid: '01', startTime: 1699999999500, endTime: 1700000000, description: 'own' },
      ],
    }),
  ]);
  assert.deepEqual(
    annotations.map(({ startMs, endMs, text, note }) => [startMs, endMs, text, note.startTime]),
    [
      [1699999999500, 1700000000000, 'own', 1699999999500],
      [1700000000000, 0, 'deploy', 1700000000],
    ],
  );
});

test('an empty answer, and the summary of statistics, are no series', () => {
  assert.deepEqual(toColumns([]), { times: [], series: [], annotations: [] });
  assert.equal(toColumns([{ statsSummary: {} }]).series.length, 0);
});

test('figures are of the values that are there', () => {
  assert.deepEqual(summary([3, undefined, null, 1, 5]), {
    count: 3,
    last: 5,
    min: 1,
    max: 5,
    mean: 3,
  });
  assert.deepEqual(summary([null]), { count: 0, last: null, min: null, max: null, mean: null });
});

test('numbers are short', () => {
  assert.deepEqual(
    [0, 21.5, -1234567, 1e-7, 2.5e9, null].map((n) => formatNumber(n)),
    ['0', '21.5', '-1.235M', '1e-7', '2.5G', '–'],
  );
  assert.deepEqual([0, 1023, 1536, 3 * 2 ** 30].map(formatBytes), [
    '0 B',
    '1023 B',
    '1.5 KiB',
    '3 GiB',
  ]);
});
