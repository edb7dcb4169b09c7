import assert from 'node:assert/strict';
import { test } from 'node:test';

process.env.TZ = 'UTC';
const { describeRange, formatTime, intervalFor, toInput, toMs } =
  await import('../../../http/page/times.js');

const NOW = 1700000000000;

test('every form of time is understood', () => {
  const expected = {
    '': NOW,
    now: NOW,
    NOW: NOW,
    '1h-ago': NOW - 3600e3,
    '500ms-ago': NOW - 500,
    '2w-ago': NOW - 14 * 86400e3,
    '1n-ago': NOW - 30 * 86400e3,
    1600000000: 1600000000000,
    1600000000123: 1600000000123,
    '1600000000123ms': 1600000000123,
    '10min-ago': NOW - 300 * 86400e3,
    '1.5h-AGO': NOW - 3600e3,
    '1600000000.500': 1600000000500,
    '2023/11/14': 1699920000000,
    '2023/11/14-22:13': 1699999980000,
    '2023/11/14 22:13:20': NOW,
  };
  for (const [text, ms] of Object.entries(expected)) assert.equal(toMs(text, NOW), ms, text);
  for (const text of ['yesterday', '1x-ago', '2023-11-14', '-5'])
    assert.ok(Number.isNaN(toMs(text, NOW)), text);
});

test('intervals leave no more points than wished, where there is one that long', () => {
  assert.equal(intervalFor(0, 500), '1s');
  assert.equal(intervalFor(500e3, 500), '1s');
  assert.equal(intervalFor(501e3, 500), '2s');
  assert.equal(intervalFor(1e15, 500), '30d');
});

test('times are written as people read them', () => {
  assert.equal(formatTime(NOW), '2023-11-14 22:13:20');
  assert.equal(formatTime(NOW + 7), '2023-11-14 22:13:20.007');
  assert.equal(toInput(NOW + 7), '2023-11-14T22:13:20');
  assert.equal(describeRange('1h-ago', ''), 'last 1h');
  assert.equal(
    describeRange('1700000000', '1700000060'),
    '2023-11-14 22:13:20 – 2023-11-14 22:14:20',
  );
  assert.equal(describeRange('1700000000', ''), '2023-11-14 22:13:20 – now');
  assert.equal(describeRange('1h-ago', '5m-ago'), '1h-ago – 5m-ago');
});
