// A server that does what the tool of a guard says. `node fake-server.js [start]`, where start is how it begins:
// ok, mute (no answer to initialize), refuse (a bad config), leave (ends at once). At the end of its input it
// writes the file FAKE_LEFT.
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const start = process.argv[2] ?? 'ok'
if (start === 'leave') {
  process.stderr.write('no such setting\n')
  process.exit(2)
}
let told = 0
const reply = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
const refuse = (id, code, data) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'Invalid params', data } })}\n`)
const problems = [
  { key: 'window', problem: 'must be an integer >= 4', hint: '16 is the default' },
  { key: 'warn', problem: 'no such setting' },
]

const tools = {
  allow: (id) => reply(id, { decision: 'allow', hits: [] }),
  deny: (id) => reply(id, { decision: 'deny', code: 'REPEAT_TOOL_BLOCKED', reason: 'REPEAT_TOOL_BLOCKED: enough', hits: [] }),
  size: (id, call) => reply(id, { decision: 'deny', reason: call.arguments.text, hits: [{ gate: 'size', count: call.arguments.text.length, limit: 0 }] }),
  null: (id, call) => reply(id, { decision: 'allow', hits: [], callId: String(call.arguments === null) }),
  die: () => process.exit(3),
  garbage: () => process.stdout.write('Traceback (most recent call last):\n'),
  otherId: (id) => reply(id + 1000, { decision: 'deny', hits: [] }),
  shapeless: (id) => reply(id, { decision: 'perhaps' }),
  error: (id) => refuse(id, -32602, '$.tool'),
  unread: () => process.stdout.write('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"too long"}}\n'),
  silent: () => {},
  late: (id) => setTimeout(reply, 150, id, { decision: 'deny', hits: [] }),
  flood: () => process.stdout.write('x'.repeat(70_000)),
  crumbs: async (id) => {
    for (const byte of `{"jsonrpc":"2.0","id":${id},"result":{"decision":"deny","reason":"é","hits":[]}}\r\n`) {
      await new Promise((written) => process.stdout.write(byte, written))
    }
  },
}

const lines = createInterface({ input: process.stdin })
lines.on('close', () => { if (process.env.FAKE_LEFT) writeFileSync(process.env.FAKE_LEFT, '') })
lines.on('line', (text) => {
  const { id, method, params } = JSON.parse(text)
  if (id === undefined) return void told++
  switch (method) {
    case 'initialize':
      if (start === 'mute') return
      if (start === 'refuse' && params.config?.window !== 16) return refuse(id, -32602, problems)
      return reply(id, { protocolVersion: 1, server: { name: 'fake', version: '0' }, methods: [], config: params.config ?? {} })
    case 'guard':
      return tools[params.tool](id, params)
    case 'postExecute':
      return reply(id, { advisories: [], failure: null })
    case 'shutdown':
      reply(id, {})
      return process.exit(0)
    default:
      return reply(id, { pid: process.pid, told })
  }
})
