/**
 * One server process: started, written to, read from, given up and started again.
 *
 * Nothing here throws at a caller and nothing waits without a bound. `request` resolves to `{result}` or
 * `{fault}`; every fault also reaches `onFault`, each kind once for a process that worked.
 */
import { spawn } from 'node:child_process'

import { ConfigError, DEFAULTS, PROTOCOL_VERSION, wellFormed } from './protocol.js'

const LF = 0x0a
/** Bytes of the process's last words that an `exit` fault quotes. */
const STDERR_TAIL = 2000
/** Messages that wait in the pipe of a process that does not read are dropped beyond this many bytes. */
const MAX_UNREAD = 64 * 1024 * 1024
/** Milliseconds that `close` waits for a process to write its state and leave, before each signal. */
const LEAVE_MS = 2000

/** A fault: `kind` for programs, `message` for people. */
function makeFault(kind, message, more) {
  return { kind, message, ...more }
}

/** Why there is no process, and the way out where there is no such program. */
function spawnFault(program, error) {
  const hint = error.code === 'ENOENT' ? '; put it on the PATH or set TOOLBREAKER to its path' : ''
  return makeFault('spawn', `cannot start ${program}: ${error.message}${hint}`)
}

export class Connection {
  /** `idle` before the first start, `starting` and `up` with a process, `down` between two, `closed` for good. */
  #state = 'idle'
  #options
  #child
  /** id → what is waited for. The server answers in order, so the first entry is the next to be answered. */
  #pending = new Map()
  /** Ids whose time was up: an answer to one of them is late, not wrong. */
  #expired = new Set()
  #nextId = 1
  #attempt = 0
  /** Since when something is unanswered and nothing was heard; undefined while all is answered. */
  #silentSince
  #backoff
  #everUp = false
  #answered = false
  #reported = new Set()
  #starting

  constructor(options) {
    this.#options = { ...DEFAULTS, ...options }
  }

  /** The id of the server process, while there is one. */
  get pid() {
    return this.#child?.process.pid
  }

  /** Start the process unless it runs. Resolves to `{result}` of `initialize`, or to `{fault}` or `{error}`. */
  start() {
    if (this.#state === 'idle' || this.#state === 'down') this.#spawn()
    if (this.#state === 'closed') return Promise.resolve({ fault: makeFault('closed', 'the client is closed') })
    return this.#starting
  }

  /** Send `initialize` to the running process, or start one with it. */
  async initialize(config) {
    if (config !== undefined) {
      if (this.#state === 'starting') await this.#starting
      this.#options.config = config
    }
    if (this.#state === 'up') {
      const id = this.#nextId++
      const answer = this.#expect(id, 'initialize', this.#options.startTimeoutMs)
      this.#write(line({ id, method: 'initialize', params: JSON.stringify(this.#greeting()) }))
      return answer
    }
    if (this.#state === 'closed') this.#state = 'idle'
    return this.start()
  }

  /** Ask one thing. `params` is JSON text. */
  request(method, params) {
    const refused = this.#refuse(method, params)
    if (refused) return Promise.resolve({ fault: refused })
    const id = this.#nextId++
    const answer = this.#expect(id, method, this.#options.timeoutMs)
    this.#write(line({ id, method, params }))
    return answer
  }

  /** Tell one thing; there is no answer. */
  notify(method, params) {
    if (!this.#refuse(method, params)) this.#write(line({ method, params }))
  }

  /** Report a fault that the caller met before anything was sent. */
  report(fault) {
    if (this.#reported.has(fault.kind)) return
    this.#reported.add(fault.kind)
    try {
      this.#options.onFault?.(fault)
    } catch {
      // A reporter that fails must not take the call with it.
    }
  }

  /** Let the process write its state and end. Later calls get the stand-in reply. */
  async close() {
    clearTimeout(this.#backoff)
    const child = this.#child
    this.#state = 'closed'
    this.#child = undefined
    this.#settleAll(makeFault('closed', 'the client is closed'))
    if (child) {
      child.closing = true
      child.process.ref()
      child.process.stdin.end(line({ id: 0, method: 'shutdown', params: '{}' }))
      for (const signal of ['SIGTERM', 'SIGKILL']) {
        if (await within(child.gone, LEAVE_MS)) break
        child.process.kill(signal)
      }
    }
  }

  #greeting() {
    const { client, capabilities, config } = this.#options
    return { protocolVersion: PROTOCOL_VERSION, client, capabilities, config }
  }

  /** Why a message is not sent, or undefined when it may be. Starts the process for the first message. */
  #refuse(method, params) {
    if (this.#state === 'idle') this.start()
    if (this.#state === 'closed') return makeFault('closed', 'the client is closed')
    if (this.#state === 'down') return makeFault('down', 'the server process is down')
    const bytes = Buffer.byteLength(params)
    if (bytes + 200 > this.#options.maxLineBytes) {
      const fault = makeFault('tooLarge', `${method} is ${bytes} bytes, over the limit of ${this.#options.maxLineBytes}`, { method })
      this.report(fault)
      return fault
    }
    return undefined
  }

  #spawn() {
    const [program, ...args] = this.#options.command
    this.#state = 'starting'
    this.#silentSince = undefined
    this.#answered = false
    const child = { chunks: [], length: 0, stderr: '', closing: false }
    child.gone = new Promise((resolve) => { child.leave = resolve })
    try {
      child.process = spawn(program, args, {
        cwd: this.#options.cwd,
        env: this.#options.env ?? process.env,
        stdio: ['pipe', 'pipe', 'pipe'],
        // Ctrl-C on the harness's terminal is not for the server, which would end; without it the end of input does.
        detached: process.platform !== 'win32',
        windowsHide: true,
      })
    } catch (error) {
      this.#starting = Promise.resolve({ fault: this.#goDown(child, spawnFault(program, error)) })
      return
    }
    this.#child = child
    this.#listen(child, program)
    // The server must never keep its harness alive: it sees the end of its input and leaves.
    for (const part of [child.process, child.process.stdin, child.process.stdout, child.process.stderr]) part.unref?.()

    const id = this.#nextId++
    this.#starting = this.#expect(id, 'initialize', this.#options.startTimeoutMs)
    this.#write(line({ id, method: 'initialize', params: JSON.stringify(this.#greeting()) }))
  }

  #listen(child, program) {
    const { process: proc } = child
    const down = (fault) => {
      child.leave(true)
      this.#goDown(child, fault)
    }
    proc.once('error', (error) => down(spawnFault(program, error)))
    const ended = (code, signal) => {
      const words = child.stderr.trim()
      const how = signal ? `signal ${signal}` : `code ${code}`
      down(makeFault('exit', `the server process ended with ${how}${words ? `: ${words}` : ''}`, { code, signal }))
    }
    proc.once('close', ended)
    // A grandchild that holds the pipe open keeps `close` away.
    proc.once('exit', (code, signal) => setTimeout(ended, 200, code, signal).unref())
    proc.stdin.on('error', () => {}) // The end of the process says more than EPIPE does.
    proc.stdout.on('data', (chunk) => this.#read(child, chunk))
    proc.stderr.setEncoding('utf8')
    proc.stderr.on('data', (text) => {
      child.stderr = (child.stderr + text).slice(-STDERR_TAIL)
      this.#options.onStderr?.(text)
    })
  }

  #write(text) {
    const stdin = this.#child?.process.stdin
    if (!stdin?.writable) return
    stdin.write(text)
    if (stdin.writableLength > MAX_UNREAD) this.#giveUp(this.#child, makeFault('stalled', 'the server process does not read its input'))
  }

  #expect(id, method, ms) {
    return new Promise((resolve) => {
      const entry = { method, resolve, ms }
      this.#pending.set(id, entry)
      this.#silentSince ??= performance.now()
      // Before the first start is over a call waits for it; afterwards a start is no excuse.
      if (method === 'initialize' || this.#everUp || this.#state === 'up') this.#arm(id, entry)
    })
  }

  #arm(id, entry) {
    entry.timer = setTimeout(() => this.#expire(id, entry), entry.ms)
  }

  #expire(id, entry) {
    this.#pending.delete(id)
    this.#expired.add(id)
    const starting = entry.method === 'initialize'
    const fault = makeFault(starting ? 'startTimeout' : 'timeout', `no answer to ${entry.method} within ${entry.ms} ms`, { method: entry.method })
    this.report(fault)
    entry.resolve({ fault })
    if (starting || (this.#state === 'up' && this.#silentTooLong())) this.#giveUp(this.#child, fault)
  }

  /** Calls that wait at the same time run out of time together; that alone says little. */
  #silentTooLong() {
    const { maxTimeouts, timeoutMs } = this.#options
    // Half a call of tolerance, because timers and the clock do not agree to the millisecond.
    return performance.now() - this.#silentSince >= (maxTimeouts - 0.5) * timeoutMs
  }

  #heard() {
    this.#silentSince = this.#pending.size + this.#expired.size > 0 ? performance.now() : undefined
  }

  #read(child, chunk) {
    if (child !== this.#child) return
    let from = 0
    for (let at = chunk.indexOf(LF); at >= 0 && child === this.#child; at = chunk.indexOf(LF, from)) {
      child.chunks.push(chunk.subarray(from, at))
      const text = Buffer.concat(child.chunks).toString('utf8')
      child.chunks = []
      child.length = 0
      from = at + 1
      if (text.trim()) this.#receive(child, text)
    }
    if (from < chunk.length) {
      child.chunks.push(chunk.subarray(from))
      child.length += chunk.length - from
      if (child.length > this.#options.maxLineBytes) this.#giveUp(child, makeFault('garbage', 'a reply is over the limit'))
    }
  }

  #receive(child, text) {
    let reply
    try {
      reply = JSON.parse(text)
    } catch {
      return this.#giveUp(child, makeFault('garbage', `not JSON on the server's stdout: ${text.slice(0, 200)}`))
    }
    let id = reply?.id
    // An error without an id answers a message that the server could not read; answers come in order.
    if (id === null && reply.error) id = this.#pending.keys().next().value
    if (this.#expired.delete(id)) return this.#heard()
    const entry = this.#pending.get(id)
    if (!entry) return this.#giveUp(child, makeFault('unknownId', `a reply to nothing that was asked: ${text.slice(0, 200)}`))
    this.#pending.delete(id)
    clearTimeout(entry.timer)
    this.#heard()
    if (entry.method === 'initialize') return this.#greeted(child, entry, reply)
    if (reply.error) {
      const fault = makeFault('error', `${entry.method}: ${reply.error.message}`, { method: entry.method, code: reply.error.code, data: reply.error.data })
      this.report(fault)
      return entry.resolve({ fault })
    }
    if (!wellFormed(entry.method, reply.result)) {
      const fault = makeFault('garbage', `a reply to ${entry.method} of another shape: ${text.slice(0, 200)}`, { method: entry.method })
      entry.resolve({ fault })
      return this.#giveUp(child, fault)
    }
    this.#attempt = 0
    if (!this.#answered) {
      this.#answered = true
      this.#reported.clear()
    }
    return entry.resolve({ result: reply.result })
  }

  #greeted(child, entry, reply) {
    if (reply.error) {
      const problems = Array.isArray(reply.error.data) ? reply.error.data : undefined
      if (problems) {
        // The server would judge by another config than the one it was given: better not at all.
        const error = new ConfigError(problems)
        if (this.#everUp) this.report(makeFault('config', error.message))
        entry.resolve({ error })
        return this.close()
      }
      const fault = makeFault('error', `initialize: ${reply.error.message}`, { method: 'initialize', code: reply.error.code })
      entry.resolve({ fault })
      return this.#giveUp(child, fault)
    }
    this.#state = 'up'
    this.#everUp = true
    for (const [id, waiting] of this.#pending) if (!waiting.timer) this.#arm(id, waiting)
    return entry.resolve({ result: reply.result })
  }

  #giveUp(child, fault) {
    if (!child || child !== this.#child) return
    child.process.kill('SIGKILL')
    this.#goDown(child, fault)
  }

  /** The process is of no use any more: answer what waits, start another one after a pause. */
  #goDown(child, fault) {
    if (child.closing || (this.#child !== child && this.#child !== undefined) || this.#state === 'down' || this.#state === 'closed') return fault
    this.#child = undefined
    this.#state = 'down'
    this.report(fault)
    this.#settleAll(fault)
    this.#expired.clear()
    const pause = Math.min(this.#options.backoffMs * 2 ** this.#attempt++, this.#options.maxBackoffMs)
    this.#backoff = setTimeout(() => { if (this.#state === 'down') this.#spawn() }, pause).unref()
    return fault
  }

  #settleAll(fault) {
    for (const entry of this.#pending.values()) {
      clearTimeout(entry.timer)
      entry.resolve({ fault })
    }
    this.#pending.clear()
  }
}

function line({ id, method, params }) {
  const key = id === undefined ? '' : `"id":${id},`
  return `{"jsonrpc":"2.0",${key}"method":"${method}","params":${params}}\n`
}

/** Whether a promise settles within so many milliseconds. */
function within(promise, ms) {
  let timer
  const late = new Promise((resolve) => { timer = setTimeout(resolve, ms, false) })
  return Promise.race([promise.then(() => true), late]).finally(() => clearTimeout(timer))
}
