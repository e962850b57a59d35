import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Breaker, ConfigError } from '../index.js'
import { fake, until } from './support.js'

/** A client of the fake server and the faults that it reported; closed when the test is over. */
function client(t, options = {}) {
  const faults = []
  const { start, ...rest } = options
  // A busy machine is no fault of the client, unless time is what a test is about.
  const breaker = new Breaker({ command: fake(start), timeoutMs: 5000, backoffMs: 20, onFault: (fault) => faults.push(fault), ...rest })
  t.after(() => breaker.close())
  return { breaker, faults, kinds: () => faults.map((fault) => fault.kind) }
}

const allowed = { decision: 'allow', hits: [], degraded: true }

test('a verdict comes back as the server gave it', async (t) => {
  const { breaker, faults } = client(t)
  await breaker.initialize()
  assert.equal((await breaker.guard({ tool: 'allow' })).decision, 'allow')
  assert.equal((await breaker.guard({ tool: 'deny' })).code, 'REPEAT_TOOL_BLOCKED')
  assert.deepEqual(faults, [])
})

test('the first call starts the server by itself', async (t) => {
  const { breaker } = client(t)
  assert.equal((await breaker.guard({ tool: 'deny' })).decision, 'deny')
})

test('a call without arguments is sent with null', async (t) => {
  const { breaker } = client(t)
  assert.equal((await breaker.guard({ tool: 'null' })).callId, 'true')
})

test('many calls at once get their own answers', async (t) => {
  const { breaker } = client(t)
  await breaker.initialize()
  const tools = Array.from({ length: 200 }, (_, i) => (i % 3 ? 'allow' : 'deny'))
  const verdicts = await Promise.all(tools.map((tool) => breaker.guard({ tool })))
  assert.deepEqual(verdicts.map((verdict) => verdict.decision), tools)
})

test('four megabytes pass in both directions', async (t) => {
  const { breaker, faults } = client(t)
  const text = 'é'.repeat(2 * 1024 * 1024)
  const { reason, hits } = await breaker.guard({ tool: 'size', arguments: { text } })
  assert.equal(hits[0].count, text.length)
  assert.ok(reason === text)
  assert.deepEqual(faults, [])
})

test('a reply that comes byte by byte is put together', async (t) => {
  const { breaker } = client(t)
  assert.equal((await breaker.guard({ tool: 'crumbs' })).reason, 'é')
})

test('a config that the server refuses is an error with every problem', async (t) => {
  const { breaker } = client(t, { start: 'refuse', config: { window: 1, warn: 3 } })
  await assert.rejects(breaker.initialize(), (error) => {
    assert.ok(error instanceof ConfigError)
    assert.deepEqual(error.problems.map((problem) => problem.key), ['window', 'warn'])
    assert.match(error.message, /window: must be an integer >= 4 \(16 is the default\)\n {2}warn: no such setting/)
    return true
  })
  assert.equal((await breaker.initialize({ window: 16 })).config.window, 16)
})

test('a new config can be given to a running server', async (t) => {
  const { breaker } = client(t, { config: { window: 16 } })
  await breaker.initialize()
  const { pid } = breaker
  assert.deepEqual((await breaker.initialize({ window: 20 })).config, { window: 20 })
  assert.equal(breaker.pid, pid)
})

for (const [what, tool, kind] of [
  ['a server that dies', 'die', 'exit'],
  ['garbage on stdout', 'garbage', 'garbage'],
  ['a reply to another id', 'otherId', 'unknownId'],
  ['a reply of another shape', 'shapeless', 'garbage'],
  ['a reply over the limit', 'flood', 'garbage'],
]) {
  test(`${what} lets the call run, is reported once, and the server is started again`, async (t) => {
    const { breaker, kinds } = client(t, { maxLineBytes: 64_000 })
    await breaker.initialize()
    const { pid } = breaker
    const verdicts = await Promise.all([breaker.guard({ tool }), breaker.guard({ tool: 'silent' })])
    assert.deepEqual(verdicts, [{ ...allowed, callId: undefined }, { ...allowed, callId: undefined }])
    assert.deepEqual(kinds(), [kind])
    await until(() => breaker.pid !== undefined && breaker.pid !== pid)
    await until(async () => (await breaker.guard({ tool: 'deny' })).decision === 'deny')
    assert.deepEqual(kinds(), [kind])
  })
}

test('an error reply lets the call run and keeps the server', async (t) => {
  const { breaker, faults } = client(t)
  await breaker.initialize()
  const { pid } = breaker
  assert.equal((await breaker.guard({ tool: 'error' })).decision, 'allow')
  assert.equal(faults[0].data, '$.tool')
  assert.equal((await breaker.guard({ tool: 'deny' })).decision, 'deny')
  assert.equal(breaker.pid, pid)
})

test('an error without an id belongs to the oldest open call', async (t) => {
  const { breaker, kinds } = client(t)
  await breaker.initialize()
  const [unread, denied] = await Promise.all([breaker.guard({ tool: 'unread' }), breaker.guard({ tool: 'deny' })])
  assert.equal(unread.degraded, true)
  assert.equal(denied.decision, 'deny')
  assert.deepEqual(kinds(), ['error'])
})

test('a call whose time is up runs, and its late answer disturbs nothing', async (t) => {
  const { breaker, kinds } = client(t, { timeoutMs: 50, maxTimeouts: 40 })
  await breaker.initialize()
  const { pid } = breaker
  assert.equal((await breaker.guard({ tool: 'late' })).degraded, true)
  await until(async () => (await breaker.guard({ tool: 'deny' })).decision === 'deny')
  assert.equal(breaker.pid, pid)
  assert.deepEqual(kinds(), ['timeout'])
})

test('a server that answers nothing for the time of three calls is replaced', async (t) => {
  const { breaker, kinds } = client(t, { timeoutMs: 30 })
  await breaker.initialize()
  const { pid } = breaker
  for (let i = 0; i < 3; i++) assert.equal((await breaker.guard({ tool: 'silent' })).degraded, true)
  await until(() => breaker.pid !== undefined && breaker.pid !== pid)
  assert.deepEqual(kinds(), ['timeout'])
})

test('calls that run out of time together do not cost the server its life', async (t) => {
  const { breaker, kinds } = client(t, { timeoutMs: 100, maxTimeouts: 20 })
  await breaker.initialize()
  const { pid } = breaker
  for (const verdict of await Promise.all(Array.from({ length: 40 }, () => breaker.guard({ tool: 'late' })))) assert.equal(verdict.degraded, true)
  await until(async () => (await breaker.guard({ tool: 'deny' })).decision === 'deny')
  assert.equal(breaker.pid, pid)
  assert.deepEqual(kinds(), ['timeout'])
})

test('a message over the limit is not sent, and the server stays', async (t) => {
  const { breaker, kinds } = client(t, { maxLineBytes: 1000 })
  await breaker.initialize()
  const { pid } = breaker
  assert.equal((await breaker.guard({ tool: 'deny', arguments: 'x'.repeat(1000) })).decision, 'allow')
  assert.equal((await breaker.guard({ tool: 'deny' })).decision, 'deny')
  assert.equal(breaker.pid, pid)
  assert.deepEqual(kinds(), ['tooLarge'])
})

test('arguments that are no JSON let the call run', async (t) => {
  const { breaker, kinds } = client(t)
  const loop = {}
  loop.loop = loop
  assert.equal((await breaker.guard({ tool: 'deny', arguments: loop })).degraded, true)
  assert.deepEqual(kinds(), ['unserializable'])
})

test('a program that does not exist lets every call run at once', async (t) => {
  const { breaker, kinds } = client(t, { command: ['/nowhere/toolbreaker', 'serve'] })
  assert.deepEqual(await breaker.initialize(), { degraded: true })
  assert.equal((await breaker.guard({ tool: 'deny' })).decision, 'allow')
  assert.deepEqual(kinds(), ['spawn'])
})

test('a server that ends at its start is quoted with its last words', async (t) => {
  const { breaker, faults } = client(t, { start: 'leave', backoffMs: 10_000 })
  assert.equal((await breaker.initialize()).degraded, true)
  assert.match(faults[0].message, /code 2: no such setting/)
})

test('a start that takes too long is given up', async (t) => {
  const { breaker, kinds } = client(t, { start: 'mute', startTimeoutMs: 100, backoffMs: 10_000 })
  assert.equal((await breaker.initialize()).degraded, true)
  assert.equal((await breaker.guard({ tool: 'deny' })).decision, 'allow')
  assert.deepEqual(kinds(), ['startTimeout'])
})

test('failClosed denies what could not be judged', async (t) => {
  const { breaker } = client(t, { failClosed: true })
  await breaker.initialize()
  const verdict = await breaker.guard({ tool: 'die', callId: 'c1' })
  assert.equal(verdict.decision, 'deny')
  assert.equal(verdict.code, 'TOOLBREAKER_UNAVAILABLE')
  assert.match(verdict.reason, /^TOOLBREAKER_UNAVAILABLE: .*code 3/)
  assert.equal((await breaker.approval({ callId: 'c1', outcome: 'approved' })).decision, 'deny')
})

test('failClosed does not start without a server', async (t) => {
  const { breaker } = client(t, { failClosed: true, command: ['/nowhere/toolbreaker', 'serve'] })
  await assert.rejects(breaker.initialize(), /cannot start/)
})

test('without an answer an approval stands as the operator gave it', async (t) => {
  const { breaker } = client(t, { command: ['/nowhere/toolbreaker', 'serve'] })
  await breaker.initialize()
  assert.equal((await breaker.approval({ callId: 'c1', outcome: 'approved' })).decision, 'allow')
  assert.equal((await breaker.approval({ callId: 'c1', outcome: 'rejected' })).decision, 'deny')
})

test('the other methods have harmless stand-ins', async (t) => {
  const { breaker } = client(t, { command: ['/nowhere/toolbreaker', 'serve'] })
  assert.deepEqual(await breaker.postExecute({ result: {} }), { advisories: [], failure: null, degraded: true })
  assert.deepEqual(await breaker.usage({ inputTokens: 1 }), { advisories: [], degraded: true })
  assert.deepEqual(await breaker.userTurn(), { reset: false, degraded: true })
  assert.deepEqual(await breaker.agentStarted({ agent: 'b', parent: 'a', kind: 'subagent' }), { degraded: true })
})

test('a notification is sent in order and answered by nothing', async (t) => {
  const { breaker } = client(t)
  await breaker.initialize()
  breaker.notify('usage', { inputTokens: 1 })
  breaker.notify('userTurn')
  assert.equal((await breaker.status()).told, 2)
})

test('close ends the server, and later calls run', async (t) => {
  const { breaker, faults } = client(t)
  await breaker.initialize()
  const { pid } = breaker
  await breaker.close()
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
  assert.equal((await breaker.guard({ tool: 'deny' })).decision, 'allow')
  assert.deepEqual(faults, [])
})

test('a reporter that throws does not take the call with it', async (t) => {
  const { breaker } = client(t, { onFault: () => { throw new Error('reporter') } })
  await breaker.initialize()
  assert.equal((await breaker.guard({ tool: 'die' })).decision, 'allow')
})

test('what the server writes to stderr can be had', async (t) => {
  let words = ''
  const { breaker } = client(t, { start: 'leave', onStderr: (text) => { words += text } })
  await breaker.initialize()
  assert.match(words, /no such setting/)
})
