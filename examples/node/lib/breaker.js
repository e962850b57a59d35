import { Connection } from './connection.js'
import { METHODS, defaultCommand, standIn } from './protocol.js'

/** Client that awaits. Its methods never reject; `initialize` does, for a config that the server refuses. */
export class Breaker {
  #connection
  #failClosed

  constructor(options = {}) {
    const { failClosed = false, command = defaultCommand(), onFault = warning(failClosed), ...rest } = options
    this.#failClosed = failClosed
    this.#connection = new Connection({ ...rest, onFault, command: typeof command === 'string' ? [command, 'serve'] : command })
  }

  /** The id of the server process, while there is one. */
  get pid() {
    return this.#connection.pid
  }

  async initialize(config) {
    const { result, error, fault } = await this.#connection.initialize(config)
    if (error) throw error
    if (fault && this.#failClosed) throw new Error(`toolbreaker: ${fault.message}`)
    return result ?? { degraded: true }
  }

  /** Send a message that needs no reply. */
  notify(method, params = {}) {
    const text = this.#encode(method, params)
    if (text !== undefined) this.tell(method, text)
  }

  close() {
    return this.#connection.close()
  }

  /** @internal A message that needs no reply, as JSON text. */
  tell(method, text) {
    this.#connection.notify(method, text)
  }

  /** @internal One method, `params` as JSON text and what the stand-in reply needs of them. */
  async send(method, text, params) {
    const { result, fault } = await this.#connection.request(method, text)
    return result ?? standIn(method, params, fault, this.#failClosed)
  }

  async call(method, params) {
    const text = this.#encode(method, params)
    if (text === undefined) {
      return standIn(method, params, { message: 'its arguments are no JSON' }, this.#failClosed)
    }
    return this.send(method, text, params)
  }

  #encode(method, params) {
    try {
      return encode(method, params)
    } catch (error) {
      this.#connection.report({ kind: 'unserializable', message: `${method}: ${error.message}`, method })
      return undefined
    }
  }
}

for (const method of METHODS) {
  Breaker.prototype[method] = function (params = {}) { return this.call(method, params) }
}

/** Params as JSON text. Missing arguments are null: a call without any is a call all the same. */
export function encode(method, params) {
  return JSON.stringify(method === 'guard' && params.arguments === undefined ? { ...params, arguments: null } : params)
}

/** What is done with a fault when the caller takes none. Where no process can be started it says what that means. */
export function warning(failClosed) {
  const meaning = failClosed ? 'calls are denied' : 'calls run unguarded'
  return ({ kind, message }) => {
    process.emitWarning(kind === 'spawn' ? `${message}; ${meaning}` : message, { type: 'ToolbreakerWarning', code: kind })
  }
}
