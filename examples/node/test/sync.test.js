import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { BreakerSync, ConfigError } from '../index.js'
import { fake, until } from './support.js'

function client(t, options = {}) {
  const faults = []
  const { start, ...rest } = options
  // A busy machine is no fault of the client, unless time is what a test is about.
  const breaker = new BreakerSync({ command: fake(start), timeoutMs: 5000, backoffMs: 20, onFault: (fault) => faults.push(fault), ...rest })
  t.after(() => breaker.close())
  return { breaker, faults, kinds: () => faults.map((fault) => fault.kind) }
}

test('a verdict is there when the call returns', (t) => {
  const { breaker, faults } = client(t)
  breaker.initialize()
  assert.equal(breaker.guard({ tool: 'allow' }).decision, 'allow')
  assert.equal(breaker.guard({ tool: 'deny' }).reason, 'REPEAT_TOOL_BLOCKED: enough')
  assert.deepEqual(breaker.postExecute({ callId: 'c', result: {} }), { advisories: [], failure: null })
  assert.deepEqual(faults, [])
})

test('the first call starts the server by itself', (t) => {
  const { breaker } = client(t)
  assert.equal(breaker.guard({ tool: 'deny' }).decision, 'deny')
})

test('calls that await and calls that block share one server, in order', async (t) => {
  const { breaker } = client(t)
  await breaker.async.initialize()
  const before = breaker.async.guard({ tool: 'deny' })
  breaker.notify('userTurn')
  const { pid, told } = breaker.status()
  assert.equal(told, 1)
  assert.equal(pid, breaker.pid)
  assert.equal((await before).decision, 'deny')
  assert.equal((await breaker.async.status()).pid, pid)
})

test('four megabytes pass in both directions', (t) => {
  const { breaker } = client(t)
  const text = 'é'.repeat(2 * 1024 * 1024)
  assert.ok(breaker.guard({ tool: 'size', arguments: { text } }).reason === text)
})

test('a config that the server refuses is an error with every problem', (t) => {
  const { breaker } = client(t, { start: 'refuse', config: { window: 1 } })
  assert.throws(() => breaker.initialize(), (error) => error instanceof ConfigError && error.problems.length === 2)
  assert.equal(breaker.initialize({ window: 16 }).config.window, 16)
})

test('the same refusal reaches those who await', async (t) => {
  const { breaker } = client(t, { start: 'refuse' })
  await assert.rejects(breaker.async.initialize(), ConfigError)
})

test('a server that dies in mid-call lets the call run and is started again', async (t) => {
  const { breaker, kinds } = client(t)
  breaker.initialize()
  const { pid } = breaker
  assert.equal(breaker.guard({ tool: 'die' }).decision, 'allow')
  assert.deepEqual(kinds(), ['exit'])
  await until(() => breaker.status().pid > 0 && breaker.guard({ tool: 'deny' }).decision === 'deny')
  assert.notEqual(breaker.pid, pid)
})

test('a server that is killed while nobody asks does not hang the next call', (t) => {
  const { breaker } = client(t)
  breaker.initialize()
  process.kill(breaker.pid, 'SIGKILL')
  assert.ok(breaker.guard({ tool: 'deny' }))
})

test('a call without an answer blocks no longer than its time', (t) => {
  const { breaker, kinds } = client(t, { timeoutMs: 50 })
  breaker.initialize()
  const began = performance.now()
  assert.equal(breaker.guard({ tool: 'silent' }).decision, 'allow')
  assert.ok(performance.now() - began < 1500)
  assert.deepEqual(kinds(), ['timeout'])
})

test('failClosed denies what could not be judged', (t) => {
  const { breaker } = client(t, { failClosed: true })
  breaker.initialize()
  assert.equal(breaker.guard({ tool: 'garbage' }).code, 'TOOLBREAKER_UNAVAILABLE')
})

test('arguments that are no JSON let the call run', (t) => {
  const { breaker, kinds } = client(t)
  assert.equal(breaker.guard({ tool: 'deny', arguments: 1n }).decision, 'allow')
  assert.deepEqual(kinds(), ['unserializable'])
})

test('close ends the server, and later calls run', (t) => {
  const { breaker, faults } = client(t)
  breaker.initialize()
  const { pid } = breaker
  breaker.close()
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
  assert.equal(breaker.guard({ tool: 'deny' }).decision, 'allow')
  assert.deepEqual(faults, [])
})

for (const name of ['Breaker', 'BreakerSync']) {
  test(`an open ${name} does not keep its program alive, and its server leaves with it`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'toolbreaker-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const program = `
      import { ${name} } from ${JSON.stringify(new URL('../index.js', import.meta.url).href)}
      const breaker = new ${name}({ command: ${JSON.stringify(fake())} })
      await breaker.initialize()
      console.log((await breaker.guard({ tool: 'deny' })).decision)`
    const left = join(folder, 'left')
    const env = { ...process.env, FAKE_LEFT: left }
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', timeout: 10_000, env })
    assert.equal(run.status, 0, run.stderr)
    assert.equal(run.stdout, 'deny\n')
    await until(() => existsSync(left))
  })
}

for (const [options, meaning] of [['', 'calls run unguarded'], [', failClosed: true', 'calls are denied']]) {
  for (const name of ['Breaker', 'BreakerSync']) {
    test(`without the program a ${name}${options} says how to get there, and that ${meaning}`, () => {
      const program = `
        import { ${name} } from ${JSON.stringify(new URL('../index.js', import.meta.url).href)}
        const breaker = new ${name}({ command: ['no-such-program', 'serve']${options} })
        try { await breaker.initialize() } catch {}
        await breaker.guard({ tool: 'read' })`
      const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', timeout: 10_000 })
      assert.match(run.stderr, new RegExp(`cannot start no-such-program.*ENOENT; put it on the PATH or set TOOLBREAKER to its path; ${meaning}`))
    })
  }
}
