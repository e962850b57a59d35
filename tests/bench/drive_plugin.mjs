// Plays traces through dsh-repeat-tool-breaker by the hooks that it registers, in the order in which DSH calls them:
// pre-execute, the guard, post-execute. Prints what traces.py reads.
//
// usage: node drive_plugin.mjs FOLDER PASSES TRACES...    FOLDER is where npm installed the package
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, passes, ...files] = process.argv.slice(2)
const entry = createRequire(resolve(folder, 'package.json')).resolve('dsh-repeat-tool-breaker')
const { apply } = await import(pathToFileURL(entry))

const allow = async () => ({ kind: 'allow' })
const accept = async () => ({ kind: 'accept' })
const DENIED = { isError: true, error: { code: 'DENIED', name: 'ToolDenied' }, content: [{ type: 'text', text: 'Error: denied' }] }
/** What a call brings that did not run when the trace was written. */
const EMPTY = { isError: false, content: [] }

/** A plugin of its own for a trace, and the trace in its terms: everything that need not be timed. */
function prepare({ config, steps }) {
  const hooks = {}
  const on = (name, hook) => { hooks[name] = hook }
  apply({ on, tools: { guard: (hook) => on('guard', hook) } }, config)
  const agents = {}
  const agent = (id) => (agents[id] ??= { id, session: { id } })
  const events = steps.map(({ userTurn, guard, approval, expect, result }) => {
    if (userTurn) return { turn: { agent: agent(userTurn.agent), messages: [{ source: { kind: userTurn.source } }] } }
    const call = { callId: guard.callId, name: guard.tool, arguments: guard.arguments, agent: agent(guard.agent) }
    const ran = (expect.afterApproval ?? expect.decision) === 'allow'
    return { call, approval, result: ran ? result : EMPTY }
  })
  return { hooks, events }
}

/** How many calls were blocked. */
async function play({ hooks, events }) {
  let blocked = 0
  for (const { turn, call, approval, result } of events) {
    if (turn) {
      await hooks['agent/pre-step'](turn, accept)
      continue
    }
    const { kind } = await hooks['tools/pre-execute'](call, allow)
    const runs = (kind === 'allow' || approval === 'approved') && hooks.guard(call) === undefined
    if (!runs) blocked++
    await hooks['tools/post-execute'](call, runs ? result : DENIED, accept)
  }
  return blocked
}

const traces = files.flatMap((file) => readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line)))
const calls = traces.flatMap(({ steps }) => steps).filter(({ guard }) => guard).length
const seconds = []
let blocked
for (let pass = 0; pass < Number(passes); pass++) {
  const prepared = traces.map(prepare)
  const cpu = process.cpuUsage()
  const began = performance.now()
  blocked = 0
  for (const trace of prepared) blocked += await play(trace)
  const wall = (performance.now() - began) / 1e3
  const { user, system } = process.cpuUsage(cpu)
  // CPU time, as on the other side; where the helper threads of V8 make it more than went by, what went by.
  seconds.push(Math.min(wall, (user + system) / 1e6))
}
console.log(JSON.stringify({ calls, blocked, seconds }))
