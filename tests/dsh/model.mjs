/**
 * A model on loopback that says what a script tells it to, in the streaming form of OpenAI's chat completions.
 *
 * A script is a list of steps, one a model response: `{calls: [{tool, args}]}` or `{text}`; after the last it says
 * "done". `scripts` maps a part of an agent's first user message to its script, `default` is for all others. Which
 * step is next follows from how many responses the request already holds, so the model itself keeps no state.
 */
import { createServer } from 'node:http'

const textOf = ({ content }) => (typeof content === 'string' ? content : (content ?? []).map((block) => block.text ?? '').join(''))

export const firstPrompt = (messages) => textOf(messages.find((message) => message.role === 'user') ?? {})

/** @returns its base URL, every request body with tools in the order of arrival, and how to stop it. */
export async function startModel(scripts) {
  const requests = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const body = text ? JSON.parse(text) : {}
    if (body.tools?.length) requests.push(body)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const choice of choices(scripts, body)) response.write(`data: ${JSON.stringify(chunk(body, requests.length, choice))}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}`, requests, stop: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections() }) }
}

function stepFor(scripts, { messages = [], tools }) {
  if (!tools?.length) return { text: 'A title' }
  const prompt = firstPrompt(messages)
  const script = scripts[Object.keys(scripts).find((key) => key !== 'default' && prompt.includes(key)) ?? 'default'] ?? []
  return script[messages.filter((message) => message.role === 'assistant').length] ?? { text: 'done' }
}

function choices(scripts, body) {
  const { calls, text } = stepFor(scripts, body)
  if (!calls) return [{ delta: { role: 'assistant', content: text } }, { delta: {}, finish_reason: 'stop' }]
  const toolCalls = calls.map(({ tool, args }, index) => ({
    index,
    id: `call_${body.messages.length}_${index}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(args) },
  }))
  return [{ delta: { role: 'assistant', content: '', tool_calls: toolCalls } }, { delta: {}, finish_reason: 'tool_calls' }]
}

function chunk(body, n, { delta, finish_reason = null }) {
  return {
    id: `response-${n}`,
    object: 'chat.completion.chunk',
    created: 0,
    model: body.model,
    choices: [{ index: 0, delta, finish_reason }],
    ...(finish_reason && { usage: { prompt_tokens: 1000, completion_tokens: 20, total_tokens: 1020, prompt_tokens_details: { cached_tokens: 600 }, prompt_cache_hit_tokens: 600, prompt_cache_miss_tokens: 400 } }),
  }
}
