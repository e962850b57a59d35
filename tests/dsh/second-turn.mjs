// The headless harness takes one task; this plugin sends a second message, as a person would, when the first is done.
export const name = 'second-turn'
export const inject = ['agents']

export function apply(ctx) {
  let sent = false
  ctx.on('agent/turn-stopping', ({ agent }) => {
    if (sent || agent.session.header.origin === 'subagent') return
    sent = true
    agent.followup({ id: crypto.randomUUID(), role: 'user', content: [{ type: 'text', text: 'And once more, please.' }], source: { kind: 'user' } })
  })
}

export default { name, inject, apply }
