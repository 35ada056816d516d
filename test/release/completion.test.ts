import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { COMPLETED } from '../cli/completed.ts'
import { runInProcess } from '../support/run-command.ts'
import { shellSkip } from '../support/requirements.ts'

const lines = COMPLETED.map(([words]) => ['engine-gateway', ...words].join(' '))

t.test('fish completes every tested line', { skip: shellSkip('fish') }, async (t) => {
  const folder = await folderWith(t, 'fish', 'engine-gateway.fish')
  const asked = lines.map((line) => `complete -C '${line}'; echo END`)
  const script = ['source engine-gateway.fish', ...asked].join('\n')
  const out = execFileSync('fish', ['--no-config', '-c', script], { cwd: folder, encoding: 'utf8' })
  // Each completion is followed by a tab and a description.
  compare(t, out.replaceAll(/\t.*/g, ''))
})

// As documented: the file is in a folder of fpath, and zsh loads it at the first completion.
for (const name of ['_engine-gateway', '_other-name'])
  t.test(`zsh completes every tested line from the file ${name}`, { skip: shellSkip('zsh') }, async (t) => {
    const folder = await folderWith(t, 'zsh', join('functions', name))
    const out = execFileSync('zsh', ['-f', '-c', TYPED, 'zsh', ...lines], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 60_000,
    })
    compare(t, out)
  })

t.test('zsh completes every tested line from a sourced script', { skip: shellSkip('zsh') }, async (t) => {
  const folder = await folderWith(t, 'zsh', 'script')
  const out = execFileSync('zsh', ['-f', '-c', TYPED, 'zsh', ...lines], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
  })
  compare(t, out)
})

async function folderWith(t: Test, shell: string, file: string): Promise<string> {
  const { out: script } = await runInProcess(['completion', shell])
  const folder = t.testdir({ 'one.yaml': '', 'two.json': '' })
  mkdirSync(join(folder, 'functions'), { recursive: true })
  writeFileSync(join(folder, file), script)
  return folder
}

/** Compares the completions. `out` has the completions of each line, followed by END. */
function compare(t: Test, out: string): void {
  const replies = out.split('END\n').map((reply) => reply.split('\n').filter((word) => word !== ''))
  for (const [at, [words, completed]] of COMPLETED.entries())
    t.same(replies[at]?.toSorted(), completed.toSorted(), words.join(' '))
}

/**
 * Types each argument into a separate interactive zsh and requests its completion. zsh passes the completions to
 * `compadd`. This replacement first writes the matches to a file and then calls the builtin.
 */
const TYPED = String.raw`
zmodload zsh/zpty zsh/zselect
zpty typed zsh -f -i
say() { zpty -w typed "$1" }
say 'compadd() {
  local -a matches; local word
  for word in "$@"; do
    [[ $word == (-O|-A|-D)* ]] && { builtin compadd "$@"; return }
    [[ $word == (-|--) ]] && break
  done
  builtin compadd -O matches "$@"
  (( $#matches )) && print -rl -- $matches >> replies
  builtin compadd "$@"
}'
say 'complete-line() { zle complete-word; print END >> replies; zle kill-whole-line }; zle -N complete-line'
say 'bindkey "^I" complete-line; fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -D'
say '[[ -e script ]] && source script; : > replies'
until_ends() {
  local at
  for at in {1..1000}; do
    [[ -e replies && $(grep -c END replies) -eq $1 ]] && return
    zselect -t 2
  done
}
until_ends 0
for (( at = 1; at <= $#; at++ )); do
  zpty -w -n typed "$argv[$at]"$'\t'
  until_ends $at
done
zpty -d typed
cat replies
`
