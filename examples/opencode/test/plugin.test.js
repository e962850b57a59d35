// The plugin's hooks, called as opencode 1.18 calls them, on the real server.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { ToolbreakerPlugin } from '../toolbreaker.js'

const program = process.env.TOOLBREAKER || fileURLToPath(new URL('../../../.venv/bin/toolbreaker', import.meta.url))
const skip = !existsSync(program) && 'toolbreaker is not installed'

/** The plugin as opencode has it loaded: run a tool, send a message, publish an event. */
async function opencode(t, options = {}, parents = {}) {
  const log = []
  const client = {
    app: { log: async ({ body }) => log.push(body) },
    tui: { showToast: async () => {} },
    session: { get: async ({ path }) => ({ data: { id: path.id, parentID: parents[path.id] } }) },
  }
  const hooks = await ToolbreakerPlugin({ client }, { command: [program, 'serve'], timeoutMs: 5000, ...options })
  t.after(() => hooks.dispose?.())
  let calls = 0
  const publish = (type, properties) => hooks.event({ event: { type, properties } })

  /** A call whose tool gives this output, or fails with this text. Returns what the model reads. */
  async function run({ tool = 'bash', sessionID = 'ses_1', callID = `call_${++calls}`, args = { command: 'make test' }, output = 'out\n', metadata = { exit: 0 }, error }) {
    const part = { type: 'tool', tool, callID, sessionID, state: { status: 'error', input: args } }
    try {
      await hooks['tool.execute.before']?.({ tool, sessionID, callID }, { args })
    } catch (denial) {
      await publish('message.part.updated', { part: { ...part, state: { ...part.state, error: denial.message } } })
      return denial.message
    }
    if (error) {
      await publish('message.part.updated', { part: { ...part, state: { ...part.state, error } } })
      return error
    }
    const result = { title: '', metadata, output }
    await hooks['tool.execute.after']?.({ tool, sessionID, callID, args }, result)
    return result.output
  }

  const say = (sessionID, parts = [{ type: 'text', text: 'go on' }]) => hooks['chat.message']({ sessionID }, { message: {}, parts })
  const repeat = async (times, call = {}) => {
    const read = []
    for (let i = 0; i < times; i++) read.push(await run(call))
    return read
  }
  return { hooks, log, run, repeat, say, publish }
}

const small = { limits: { exact: 3, cmd: 3 }, warnAt: 2, summarizeAt: 0 }
const blocked = (read) => read.map((text) => text.startsWith('REPEAT_TOOL_BLOCKED'))

test('a repeated call is warned of in its output, then denied by a throw', { skip }, async (t) => {
  const { repeat } = await opencode(t, small)
  const read = await repeat(4)
  assert.deepEqual(blocked(read), [false, false, true, true])
  assert.equal(read[0], 'out\n')
  assert.match(read[1], /^out\n\n\nCONVERGENCE_CHECK: /)
})

test('a command that exits with an error, or runs out of time, counts as failed', { skip }, async (t) => {
  for (const call of [
    { metadata: { exit: 3 } },
    { metadata: { exit: null }, output: 'half\n\n<shell_metadata>\nshell tool terminated command after exceeding timeout 1500 ms. Retry.\n</shell_metadata>' },
  ]) {
    const { repeat } = await opencode(t, { failLimit: 2, failWarnAt: 1 })
    assert.deepEqual(blocked(await repeat(3, call)), [false, false, true])
  }
})

test('a command that the user aborted does not', { skip }, async (t) => {
  const { repeat } = await opencode(t, { failLimit: 2 })
  const call = { metadata: { exit: null }, output: '(no output)\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>' }
  assert.deepEqual(blocked(await repeat(3, call)), [false, false, false])
})

test('a tool that throws is heard of through its part, and its advisory comes with the next output', { skip }, async (t) => {
  const { run, repeat } = await opencode(t, { failLimit: 3, failWarnAt: 2 })
  const edit = { tool: 'edit', args: { filePath: 'a.txt', oldString: 'x', newString: 'y' }, error: 'Could not find oldString in the file.' }
  assert.deepEqual(await repeat(2, edit), [edit.error, edit.error])
  assert.match(await run({ tool: 'read', args: { filePath: 'a.txt' }, metadata: {} }), /^out\n\n\nCONVERGENCE_CHECK: /)
  assert.deepEqual(blocked(await repeat(2, edit)), [false, true])
})

test('a message of the user starts afresh, what opencode writes itself does not', { skip }, async (t) => {
  const { repeat, say } = await opencode(t, small)
  await repeat(3)
  await say('ses_1', [{ type: 'text', text: 'Continue if you have next steps', synthetic: true }])
  assert.deepEqual(blocked(await repeat(1)), [true])
  await say('ses_1')
  assert.deepEqual(blocked(await repeat(1)), [false])
})

test('the task of a subagent is no message of the user, whether its session was seen to start or not', { skip }, async (t) => {
  const { repeat, say, publish } = await opencode(t, small, { ses_old: 'ses_1' })
  await publish('session.created', { info: { id: 'ses_new', parentID: 'ses_1' } })
  for (const sessionID of ['ses_1', 'ses_new', 'ses_old']) await repeat(3, { sessionID })
  for (const sessionID of ['ses_new', 'ses_old']) {
    await say(sessionID)
    assert.deepEqual(blocked(await repeat(1, { sessionID })), [true])
  }
  assert.deepEqual(blocked(await repeat(1, { sessionID: 'ses_1' })), [true])
})

test('call ids that come again do not mix up their calls', { skip }, async (t) => {
  const { run } = await opencode(t, { failLimit: 2 })
  await run({ callID: 'call_0', args: { command: 'make a' }, metadata: { exit: 2 } })
  await run({ callID: 'call_0', args: { command: 'make b' }, metadata: { exit: 2 } })
  await run({ callID: 'call_0', args: { command: 'make a' }, metadata: { exit: 2 } })
  assert.match(await run({ callID: 'call_0', args: { command: 'make a' } }), /^REPEAT_TOOL_BLOCKED/)
  assert.equal(await run({ callID: 'call_0', args: { command: 'make b' } }), 'out\n')
})

test('tokens of a session and of its subagents count once a message', { skip }, async (t) => {
  const { run, publish } = await opencode(t, { maxTokens: 2500 })
  const message = (id, sessionID, completed) => publish('message.updated', { info: { id, sessionID, role: 'assistant', time: { completed }, tokens: { input: 400, output: 20, cache: { read: 600, write: 0 } } } })
  await publish('session.created', { info: { id: 'ses_2', parentID: 'ses_1' } })
  await message('msg_1', 'ses_1')
  for (const again of [1, 2]) await message('msg_1', 'ses_1', again)
  await message('msg_2', 'ses_2', 1)
  assert.equal(await run({ args: { command: 'one' } }), 'out\n')
  await message('msg_3', 'ses_2', 1)
  assert.match(await run({ args: { command: 'two' } }), /^LOOP_GUARD_BUDGET_EXHAUSTED/)
})

test('without a server, or with a bad config, every call runs and the log says why', { skip }, async (t) => {
  for (const [options, message] of [
    [{ command: ['/nowhere/toolbreaker', 'serve'] }, /cannot start/],
    [{ window: 1, onLimit: 'maybe' }, /window: .*\n.*onLimit: /],
  ]) {
    const { repeat, log } = await opencode(t, { ...small, ...options })
    assert.deepEqual(await repeat(4), Array(4).fill('out\n'))
    assert.match(log.map((line) => line.message).join('\n'), message)
  }
})

test('with failClosed nothing runs without a server', { skip }, async (t) => {
  const { run } = await opencode(t, { command: ['/nowhere/toolbreaker', 'serve'], failClosed: true })
  assert.match(await run({}), /^TOOLBREAKER_UNAVAILABLE/)
})

test('input of another shape breaks nothing', { skip }, async (t) => {
  const { hooks } = await opencode(t)
  await hooks.event({ event: { type: 'message.part.updated', properties: {} } })
  await hooks['tool.execute.after']({}, {})
  await hooks['chat.message']({}, {})
})
