// The real DSH, headless, on a scripted model, with the plugin mounted.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'

import { Breaker } from '../../examples/node/index.js'
import { bash, boot, bundle, fromPath, newHome, runDsh, skip, times } from './harness.mjs'

/** Rows of the base profile, so that questions are put although nobody is there to answer. */
const asking = [
  { id: 'approval', config: { policy: 'ask' } },
  { id: 'permission', config: { presets: { open: { sandbox: 'danger-full-access', approval: 'ask' } } } },
]

describe('DSH with the plugin', { skip, concurrency: 2 }, () => {
  /** The server's own settings: what is expected follows from them. */
  let settings
  before(async () => {
    const breaker = new Breaker({ timeoutMs: 5000 })
    settings = (await breaker.initialize()).config
    await breaker.close()
  })

  /** Fourteen equal calls: as many run as the cap lets, the others come back denied, with a word before that. */
  function assertStopped({ status, stderr, seen }, calls = 14) {
    assert.equal(status, 0, stderr)
    const { results, blocked, notices } = seen()
    const cap = Math.min(settings.limits.exact, settings.limits.cmd)
    assert.equal(results.length, calls)
    assert.deepEqual(blocked, results.map((_, i) => i + 1 >= cap))
    assert.deepEqual(notices.map(({ after }) => after), [settings.warnAt, settings.summarizeAt])
  }

  test('an equal call is warned of, asked to be summed up, and stopped', async (t) => {
    const run = await boot(t, { scripts: times(14, bash('echo same')), rows: fromPath() })
    assertStopped(run)
    assert.equal(run.stdout.trim(), 'done')
    assert.equal(run.stderr, '')
    // DSH's own reminder is mounted as well, and both are heard.
    assert.ok(run.seen().messages.some(({ role, content }) => role === 'user' && JSON.stringify(content).includes('repeating the exact same tool call')))
  })

  test('a failing call is stopped long before that', async (t) => {
    const { status, seen } = await boot(t, { scripts: times(8, bash('exit 3')), rows: fromPath() })
    assert.equal(status, 0)
    const { blocked, notices } = seen()
    assert.deepEqual(blocked, Array.from({ length: 8 }, (_, i) => i >= settings.failLimit))
    assert.deepEqual(notices.map(({ after }) => after), [settings.failWarnAt])
  })

  test('a question that nobody answers is a denial, and nothing waits', async (t) => {
    const run = await boot(t, { scripts: times(14, bash('echo same')), rows: [...fromPath(), ...asking] })
    assertStopped(run)
    assert.match(run.seen().results[settings.limits.exact - 1], /exemption was asked for and not given/)
  })

  test('a loop on localhost is denied as well, with nobody to answer', async (t) => {
    const run = await boot(t, { scripts: times(14, bash('curl -s http://localhost:8080/health')), rows: [...fromPath(), ...asking] })
    assertStopped(run)
  })

  test('pages of one endpoint pass', async (t) => {
    const scripts = Array.from({ length: 14 }, (_, i) => bash(`curl -s 'https://api.example.com/items?page=${i + 1}'`))
    const { status, seen } = await boot(t, { scripts, rows: fromPath() })
    assert.equal(status, 0)
    const { results, blocked } = seen()
    assert.deepEqual(results.map((text) => text.trim()), Array(14).fill('page'))
    assert.ok(!blocked.includes(true))
  })

  test('a second message of the user starts afresh', async (t) => {
    const secondTurn = { insert: [{ id: 'second-turn', name: join(import.meta.dirname, 'second-turn.mjs') }] }
    const scripts = [...times(13, bash('echo same')), { text: 'first answer' }, ...times(13, bash('echo same'))]
    const { status, seen } = await boot(t, { scripts, rows: [...fromPath(), secondTurn] })
    assert.equal(status, 0)
    const cap = settings.limits.exact
    assert.deepEqual(seen().blocked, Array.from({ length: 26 }, (_, i) => (i % 13) + 1 >= cap))
  })

  test('agents do not touch each other', async (t) => {
    const delegate = { calls: [{ tool: 'subagent', args: { description: 'the check', prompt: 'SUBTASK: run it', run_in_background: false } }] }
    const scripts = {
      default: [...times(9, bash('echo same')), delegate, bash('echo same'), ...times(3, bash('echo same'))],
      SUBTASK: times(13, bash('echo same')),
    }
    const { status, seen } = await boot(t, { scripts, rows: fromPath() })
    assert.equal(status, 0)
    const cap = settings.limits.exact
    assert.deepEqual(seen('SUBTASK').blocked, Array.from({ length: 13 }, (_, i) => i + 1 >= cap))
    // The delegation stands between, at index 9; the subagent's task was no message of the user.
    const own = seen().blocked.toSpliced(9, 1)
    assert.deepEqual(own, Array.from({ length: 13 }, (_, i) => i + 1 >= cap))
  })

  test('calls inside of a program are judged one by one', async (t) => {
    const code = "for (let i = 0; i < 14; i++) { try { await tools.bash({ command: 'echo same', description: 'check' }) } catch (error) { return `${i}: ${error.message}` } }"
    const { status, stderr, seen } = await boot(t, {
      scripts: [{ calls: [{ tool: 'run_code', args: { code, description: 'Run the check' } }] }],
      rows: fromPath(),
      env: { DSH_TOOLS_MODE: 'code' },
    })
    assert.equal(status, 0, stderr)
    assert.match(seen().results[0], new RegExp(`${settings.limits.exact - 1}: .*REPEAT_TOOL_BLOCKED`), seen().results[0])
  })

  test('a server that is killed in the middle lets the run finish', async (t) => {
    const home = newHome(t)
    const program = join(home, 'bin/counted')
    const pid = join(home, 'pid')
    writeFileSync(program, `#!/bin/sh\necho $$ >> ${pid}\nexec "$REAL_TOOLBREAKER" "$@"\n`, { mode: 0o755 })
    const scripts = [...times(5, bash('echo same')), bash(`kill -9 $(tail -n 1 ${pid})`), ...times(8, bash('echo same'))]
    const { status, seen, stdout } = await boot(t, { scripts, home, rows: fromPath(), env: { TOOLBREAKER: program, REAL_TOOLBREAKER: process.env.TOOLBREAKER } })
    assert.equal(status, 0)
    assert.equal(stdout.trim(), 'done')
    const { results, blocked } = seen()
    assert.equal(results.length, 14)
    assert.ok(!blocked.includes(true))
    assert.equal(readFileSync(pid, 'utf8').trim().split('\n').length, 2, 'it is started again')
  })

  test('without a server the run goes on unguarded, and says so', async (t) => {
    const { status, seen, stderr } = await boot(t, { scripts: times(13, bash('echo same')), rows: fromPath(), env: { TOOLBREAKER: '/nowhere/toolbreaker' } })
    assert.equal(status, 0)
    assert.ok(!seen().blocked.includes(true))
    assert.equal(stderr.match(/ToolbreakerWarning: cannot start .*Calls run unguarded/g).length, 1)
  })

  test('a bad config fails the start with everything that is wrong with it', async (t) => {
    const { status, stderr } = await boot(t, { scripts: [], rows: fromPath({ window: 1, onLimit: 'maybe' }) })
    assert.equal(status, 1)
    assert.match(stderr, /window: /)
    assert.match(stderr, /onLimit: /)
  })

  test('settings of the row reach the server', async (t) => {
    const { status, seen } = await boot(t, { scripts: times(4, bash('echo same')), rows: fromPath({ limits: { exact: 3, cmd: 3 } }) })
    assert.equal(status, 0)
    assert.deepEqual(seen().blocked, [false, false, true, true])
  })

  describe('installed as a package', () => {
    const manifest = (bundles) => JSON.stringify({ name: 'guarded', private: true, dsh: { profile: { bundles } } })
    const base = ['@deepseek-ai/dsh-base', '@deepseek-ai/dsh-headless']

    /** A home with a profile in which the package is linked, as `dsh plugin add PATH` does it. */
    function linkedHome(t, bundles) {
      const home = newHome(t)
      const profile = join(home, '.dsh/profiles/guarded')
      mkdirSync(join(profile, 'node_modules'), { recursive: true })
      writeFileSync(join(profile, 'package.json'), manifest(bundles))
      symlinkSync(bundle, join(profile, 'node_modules/dsh-toolbreaker'))
      return home
    }

    test('it is mounted by the bundle list', async (t) => {
      const home = linkedHome(t, [...base, 'dsh-toolbreaker'])
      assertStopped(await boot(t, { scripts: times(14, bash('echo same')), home, profile: 'guarded' }))
    })

    test('it is mounted by a row written by hand', async (t) => {
      const home = linkedHome(t, base)
      const rows = [{ insert: [{ id: 'toolbreaker', name: 'dsh-toolbreaker', config: { onLimit: 'deny' } }] }]
      writeFileSync(join(home, '.dsh/profiles/guarded/cordis.patch.yml'), JSON.stringify(rows))
      assertStopped(await boot(t, { scripts: times(14, bash('echo same')), home, profile: 'guarded' }))
    })

    test('a file: dependency brings its client along, and the profile may set the row', async (t) => {
      const home = newHome(t)
      const added = await runDsh(home, ['plugin', '--profile', 'headless', 'add', `file:${bundle}`])
      assert.equal(added.status, 0, added.stdout + added.stderr)
      const rows = [{ id: 'toolbreaker', config: { limits: { exact: 3, cmd: 3 } } }]
      writeFileSync(join(home, '.dsh/profiles/headless/cordis.patch.yml'), JSON.stringify(rows))
      const { status, stderr, seen } = await boot(t, { scripts: times(4, bash('echo same')), home })
      assert.equal(status, 0, stderr)
      assert.deepEqual(seen().blocked, [false, false, true, true])
      const removed = await runDsh(home, ['plugin', '--profile', 'headless', 'remove', 'dsh-toolbreaker'])
      assert.equal(removed.status, 0, removed.stdout + removed.stderr)
      writeFileSync(join(home, '.dsh/profiles/headless/cordis.patch.yml'), '[]')
      assert.ok(!(await boot(t, { scripts: times(13, bash('echo same')), home })).seen().blocked.includes(true))
    })
  })
})
