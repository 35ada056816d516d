import { readFileSync, writeFileSync } from 'node:fs'
import { COMMANDS } from '../src/cli/commands.ts'
import type { Description } from '../src/cli/description.ts'
import { purposeOf, sentenceOf, shownCommands, signatureOf, usageOf } from '../src/cli/help-text.ts'

/** The page that is made from the table of the commands. */
export const COMMANDS_PAGE = new URL('commands.md', import.meta.url)

const INTRODUCTION = `# Commands

Made by \`npm run docs:commands\` from the table in \`src/cli/commands.ts\`; a test fails when it differs. In a pod commands are
[called another way](explain.md#how-to-call-the-commands). Options may stand before or after the command. Every command takes \`--help\` and
\`--version\`, and \`--config FILE\` also where it reads none: the entry point of the image gives it to each. Invalid arguments end with exit code 2.

Answers are on standard output, what is wrong on standard error. \`--format json\` is for programs: its members stay, and new ones may come.
`

/** Pages that say more. */
const GUIDES: Readonly<Record<string, string>> = {
  start: '[Reload](configuration/reload.md), [workers](configuration/workers.md).',
  diff: 'It asks [`GET /config`](configuration/reload.md#the-admin-listener).',
  explain: '[Why was this refused?](explain.md#may-this-user-do-that)',
  'who-can': '[Who may do that?](explain.md#who-may-do-that)',
  suggest: '[Which records would be enough?](explain.md#which-records-would-be-enough)',
  'policy test': '[Do the records still say what we mean?](explain.md#do-the-records-still-say-what-we-mean)',
  schema: '[The reference](configuration/reference.md) is made from the same.',
}

export function commandsPage(): string {
  const shown = shownCommands(COMMANDS)
  const rows = shown.map(({ name, purpose }) => `| [${name}](#${name.replaceAll(' ', '-')}) | ${purpose} |`)
  return [INTRODUCTION, '| command | does |', '|---|---|', ...rows, '', ...shown.map(sectionOf)].join('\n')
}

function sectionOf(command: Description): string {
  const { name, purpose, about, operands = [], options, examples, exitCodes } = command
  const given = [
    ...operands.map((operand) => [operand.name, operand.purpose]),
    ...Object.entries(options).map(([option, settings]) => [
      `${settings.short === undefined ? '' : `-${settings.short}, `}${signatureOf(option, settings)}`,
      purposeOf(settings),
    ]),
  ].map(([what, of = '']) => `| \`${what?.replaceAll('|', String.raw`\|`)}\` | ${cellOf(of)} |`)
  return [
    `## ${name}\n`,
    `${sentenceOf(purpose)}${GUIDES[name] === undefined ? '' : ` ${GUIDES[name]}`}\n`,
    `\`\`\`\n${usageOf(command)}\n\`\`\`\n`,
    ...(about === undefined ? [] : [`${aboutText(about)}\n`]),
    ...(given.length === 0 ? [] : ['| argument | is |\n|---|---|', ...given, '']),
    `\`\`\`sh\n${examples.join('\n')}\n\`\`\`\n`,
    '| exit code | means |\n|---|---|',
    ...exitCodes.map(([code, meaning]) => `| ${code} | ${cellOf(meaning)} |`),
    '',
  ].join('\n')
}

function cellOf(text: string): string {
  return text.replaceAll('|', String.raw`\|`)
}

/** What is indented in the help is an example of a file. */
function aboutText(about: string): string {
  const [text = '', ...file] = about.split('\n\n')
  return file.length === 0
    ? text
    : `${text}\n\n\`\`\`yaml\n${file.join('\n\n').replaceAll(/^ {2}/gm, '')}\n\`\`\``
}

if (import.meta.main) {
  const page = commandsPage()
  writeFileSync(COMMANDS_PAGE, page)
  process.stdout.write(`${readFileSync(COMMANDS_PAGE, 'utf8').split('\n').length} lines\n`)
}
