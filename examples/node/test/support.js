import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

export const fake = (start = 'ok') => [process.execPath, here('./fake-server.js'), start]

/** The real server, or undefined where it is not installed. */
export function realServer() {
  const program = process.env.TOOLBREAKER || here('../../../.venv/bin/toolbreaker')
  return existsSync(program) ? program : undefined
}

/** Resolves once `condition` holds; rejects after ten seconds. */
export async function until(condition) {
  for (const end = performance.now() + 10_000; !(await condition()); ) {
    if (performance.now() > end) throw new Error(`never: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
