// Both clients on the real server.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Breaker, BreakerSync, ConfigError } from '../index.js'
import { realServer } from './support.js'

const program = realServer()
const skip = program === undefined && 'toolbreaker is not installed'

/** A client of either kind, awaited alike. */
function clients(t, options) {
  return [Breaker, BreakerSync].map((Client) => {
    // A busy machine is no fault of the client.
    const breaker = new Client({ command: program, timeoutMs: 5000, onFault: (fault) => t.diagnostic(fault.message), ...options })
    t.after(() => breaker.close())
    return breaker
  })
}

const call = (callId, command = 'make test') => ({ agent: 'a', callId, tool: 'bash', arguments: { command } })
const done = (callId, exitCode = 0) => ({ agent: 'a', callId, result: { isError: false, value: { exitCode }, content: 'out' } })

test('a repeated call is warned of, asked to be summed up, and stopped where the config says', { skip }, async (t) => {
  for (const breaker of clients(t, { config: { onLimit: 'deny' } })) {
    const { config } = await breaker.initialize()
    const stages = []
    let last
    for (let i = 1; i <= config.limits.exact; i++) {
      last = await breaker.guard(call(`c${i}`))
      const { advisories } = await breaker.postExecute(done(`c${i}`))
      for (const { stage, count } of advisories) stages.push([stage, count])
    }
    assert.deepEqual(stages, [['warn', config.warnAt], ['summarize', config.summarizeAt]])
    assert.equal(last.decision, 'deny')
    assert.equal(last.code, 'REPEAT_TOOL_BLOCKED')
    assert.match(last.reason, /^REPEAT_TOOL_BLOCKED/)
  }
})

test('a refused question is a denial, an approved one lets the call and its repeats pass', { skip }, async (t) => {
  for (const breaker of clients(t, { config: { limits: { exact: 2, cmd: 2 }, warnAt: 0, summarizeAt: 0 } })) {
    await breaker.initialize()
    for (const [agent, outcome, decision] of [['yes', 'approved', 'allow'], ['no', 'rejected', 'deny']]) {
      assert.equal((await breaker.guard({ ...call('1'), agent })).decision, 'allow')
      assert.equal((await breaker.guard({ ...call('2'), agent })).decision, 'ask')
      assert.equal((await breaker.approval({ agent, callId: '2', outcome })).decision, decision)
      assert.equal((await breaker.guard({ ...call('3'), agent })).decision, decision)
    }
  }
})

test('a call that keeps failing is stopped, and a message from the user starts afresh', { skip }, async (t) => {
  for (const breaker of clients(t, { config: { onLimit: 'deny' } })) {
    const { config } = await breaker.initialize()
    for (let i = 1; i <= config.failLimit; i++) {
      assert.equal((await breaker.guard(call(`c${i}`))).decision, 'allow')
      assert.equal((await breaker.postExecute(done(`c${i}`, 2))).failure.reason, 'exit')
    }
    assert.equal((await breaker.guard(call('over'))).hits[0].gate, 'failure')
    assert.deepEqual(await breaker.userTurn({ agent: 'a' }), { reset: true })
    assert.equal((await breaker.guard(call('again'))).decision, 'allow')
  }
})

test('every method is known to the server', { skip }, async (t) => {
  for (const breaker of clients(t)) {
    const { methods } = await breaker.initialize()
    await breaker.agentStarted({ agent: 'b', parent: 'a', kind: 'subagent' })
    assert.deepEqual((await breaker.usage({ agent: 'b', requestId: 'r', inputTokens: 10, cacheReadTokens: 5 })).advisories, [])
    await breaker.compacted({ agent: 'a' })
    await breaker.agentEnded({ agent: 'b' })
    assert.ok(!(await breaker.status()).degraded)
    for (const name of ['guard', 'approval', 'postExecute', 'userTurn', 'usage', 'compacted', 'agentStarted', 'agentEnded', 'status']) {
      assert.ok(methods.includes(name), name)
    }
  }
})

test('a config that the server refuses is an error with every problem', { skip }, async (t) => {
  for (const breaker of clients(t, { config: { window: 1, onLimit: 'maybe' } })) {
    await assert.rejects(async () => breaker.initialize(), (error) => {
      assert.ok(error instanceof ConfigError)
      assert.deepEqual(error.problems.map((problem) => problem.key).sort(), ['onLimit', 'window'])
      return true
    })
  }
})

test('four megabytes and half an emoji pass', { skip }, async (t) => {
  for (const breaker of clients(t)) {
    await breaker.initialize()
    const command = `echo ${'x'.repeat(4 * 1024 * 1024)} \ud83d`
    assert.equal((await breaker.guard(call('big', command))).decision, 'allow')
    assert.deepEqual((await breaker.postExecute({ ...done('big'), result: { content: command } })).failure, null)
  }
})
