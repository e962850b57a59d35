/** The thread that owns the server process of a `BreakerSync`, so that its main thread may stand still. */
import { workerData } from 'node:worker_threads'

import { Breaker } from './breaker.js'

const { port, signal, options } = workerData

function post(message) {
  port.postMessage(message)
  Atomics.add(signal, 0, 1)
  Atomics.notify(signal, 0)
}

const breaker = new Breaker({
  ...options,
  onFault: (fault) => post({ fault }),
  onStderr: options.forwardStderr ? (text) => post({ stderr: text }) : undefined,
})

async function answer({ id, method, text, params }) {
  try {
    switch (method) {
      case 'initialize': {
        const reply = await breaker.initialize(text === undefined ? undefined : JSON.parse(text))
        return { id, reply, pid: breaker.pid }
      }
      case 'close':
        await breaker.close()
        return { id, reply: undefined }
      default:
        return { id, reply: await breaker.send(method, text, params), pid: breaker.pid }
    }
  } catch (error) {
    return { id, error: { message: error.message, problems: error.problems } }
  }
}

port.on('message', (message) => {
  if (message.id === undefined) breaker.tell(message.method, message.text)
  else answer(message).then(post)
})
