/**
 * The client for places that cannot await: a worker thread owns the process, the calling thread stands in
 * `Atomics.wait` until the answer is there or its time is up. `async` is the same process for places that can.
 */
import { MessageChannel, Worker, receiveMessageOnPort } from 'node:worker_threads'

import { encode, warning } from './breaker.js'
import { ConfigError, DEFAULTS, METHODS, defaultCommand, standIn } from './protocol.js'

/** Milliseconds that the thread gets on top of the time of its own call. */
const GRACE_MS = 250
/** Milliseconds that `close` may take: what the process gets before each of two signals, and the grace. */
const CLOSE_MS = 4500
const CLOSED = { kind: 'closed', message: 'the client is closed' }

export class BreakerSync {
  /** The same methods, returning promises, on the same process. */
  async
  #options
  #onFault
  #onStderr
  #failClosed
  #worker
  #port
  #signal
  /** id → resolve, for the calls that await. */
  #waiting = new Map()
  #nextId = 1
  #initialized = false
  #closed = false
  #pid

  constructor(options = {}) {
    const { failClosed = false, onFault = warning(failClosed), onStderr, command = defaultCommand(), ...rest } = options
    this.#onFault = onFault
    this.#onStderr = onStderr
    this.#failClosed = failClosed
    this.#options = {
      ...DEFAULTS,
      ...rest,
      failClosed,
      command: typeof command === 'string' ? [command, 'serve'] : command,
      forwardStderr: onStderr !== undefined,
    }
    this.async = {
      initialize: async (config) => this.#unpackGreeting(await this.#later('initialize', encodeConfig(config))),
      close: async () => this.#end(this.#worker && (await this.#later('close'))),
    }
    for (const method of METHODS) this.async[method] = (params = {}) => this.#ask(method, params, this.#laterReply)
  }

  get pid() {
    return this.#pid
  }

  initialize(config) {
    return this.#unpackGreeting(this.#now('initialize', encodeConfig(config)))
  }

  /** Send a message that needs no reply. */
  notify(method, params = {}) {
    if (this.#closed) return
    try {
      this.#post({ method, text: encode(method, params) })
    } catch (error) {
      this.#report({ kind: 'unserializable', message: `${method}: ${error.message}`, method })
    }
  }

  close() {
    this.#end(this.#worker && this.#now('close'))
  }

  /** @internal */
  call(method, params) {
    return this.#ask(method, params, this.#nowReply)
  }

  #ask(method, params, send) {
    if (this.#closed) return standIn(method, params, CLOSED, this.#failClosed)
    let text
    try {
      text = encode(method, params)
    } catch (error) {
      const fault = { kind: 'unserializable', message: `${method}: ${error.message}`, method }
      this.#report(fault)
      return standIn(method, params, fault, this.#failClosed)
    }
    // What the stand-in reply needs; the thread gets the rest as text and never parses it.
    return send.call(this, method, text, { callId: params.callId, outcome: params.outcome })
  }

  #nowReply(method, text, params) {
    return this.#reply(method, params, this.#now(method, text, params))
  }

  async #laterReply(method, text, params) {
    return this.#reply(method, params, await this.#later(method, text, params))
  }

  #reply(method, params, { reply, pid, fault }) {
    if (fault) return standIn(method, params, fault, this.#failClosed)
    this.#pid = pid
    return reply
  }

  #unpackGreeting({ reply, error, pid, fault }) {
    if (error?.problems) throw new ConfigError(error.problems)
    if (error) throw new Error(error.message)
    if (fault && this.#failClosed) throw new Error(`toolbreaker: ${fault.message}`)
    this.#initialized = true
    this.#pid = pid
    return reply ?? { degraded: true }
  }

  /** Milliseconds after which the thread itself is given up on. */
  #patience(method) {
    if (method === 'close') return CLOSE_MS
    const { timeoutMs, startTimeoutMs } = this.#options
    const starting = method === 'initialize' || !this.#initialized
    return (starting ? startTimeoutMs : 0) + timeoutMs + GRACE_MS
  }

  #now(method, text, params) {
    this.#closed &&= method !== 'initialize'
    const id = this.#nextId++
    const deadline = performance.now() + this.#patience(method)
    this.#post({ id, method, text, params })
    for (;;) {
      const seen = Atomics.load(this.#signal, 0)
      for (let received; (received = receiveMessageOnPort(this.#port)); ) {
        if (received.message.id === id) return received.message
        this.#receive(received.message)
      }
      const left = deadline - performance.now()
      if (left <= 0) return { fault: this.#threadFault(method) }
      Atomics.wait(this.#signal, 0, seen, left)
    }
  }

  #later(method, text, params) {
    this.#closed &&= method !== 'initialize'
    return new Promise((resolve) => {
      const id = this.#nextId++
      this.#post({ id, method, text, params })
      const timer = setTimeout(() => {
        this.#waiting.delete(id)
        resolve({ fault: this.#threadFault(method) })
      }, this.#patience(method))
      this.#waiting.set(id, (message) => {
        clearTimeout(timer)
        resolve(message)
      })
    })
  }

  #threadFault(method) {
    const fault = { kind: 'thread', message: `the thread that owns the server process does not answer to ${method}`, method }
    this.#report(fault)
    this.#retire()
    return fault
  }

  #post(message) {
    if (!this.#worker) this.#start()
    this.#port.postMessage(message)
  }

  #receive(message) {
    if (message.fault) return this.#report(message.fault)
    if (message.stderr !== undefined) return this.#onStderr(message.stderr)
    const resolve = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    return resolve?.(message)
  }

  #start() {
    const { port1, port2 } = new MessageChannel()
    const signal = new Int32Array(new SharedArrayBuffer(4))
    const worker = new Worker(new URL('./worker.js', import.meta.url), {
      workerData: { port: port2, signal, options: this.#options },
      transferList: [port2],
      // The harness's own flags (loaders, `-e`) are not for this thread.
      execArgv: [],
    })
    this.#worker = worker
    this.#port = port1
    this.#signal = signal
    port1.on('message', (message) => this.#receive(message))
    worker.on('error', (error) => this.#lose(worker, error.message))
    worker.on('exit', (code) => this.#lose(worker, `exit code ${code}`))
    // Neither keeps the harness alive; a call that awaits is kept alive by its timer.
    port1.unref()
    worker.unref()
  }

  #lose(worker, why) {
    if (worker !== this.#worker) return
    const fault = { kind: 'thread', message: `the thread that owns the server process ended: ${why}` }
    this.#report(fault)
    this.#retire()
  }

  /** Let go of the thread; the next message starts another one. */
  #retire() {
    const worker = this.#worker
    this.#worker = undefined
    this.#initialized = false
    this.#pid = undefined
    this.#port?.close()
    worker?.terminate()
    for (const resolve of this.#waiting.values()) resolve({ fault: CLOSED })
    this.#waiting.clear()
  }

  #end() {
    this.#closed = true
    this.#retire()
  }

  #report(fault) {
    try {
      this.#onFault?.(fault)
    } catch {
      // A reporter that fails must not take the call with it.
    }
  }
}

for (const method of METHODS) {
  BreakerSync.prototype[method] = function (params = {}) { return this.call(method, params) }
}

function encodeConfig(config) {
  return config === undefined ? undefined : JSON.stringify(config)
}
