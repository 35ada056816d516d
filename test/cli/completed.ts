/** Command lines with their completions in every shell. The working directory contains `one.yaml` and `two.json`. */
export const COMPLETED: readonly (readonly [words: readonly string[], completed: readonly string[]])[] = [
  [['chec'], ['check']],
  [['--config', 'one.yaml', 'expl'], ['explain']],
  [
    ['check', '--format', ''],
    ['text', 'json'],
  ],
  [['check', '--form'], ['--format']],
  [['policy', 'te'], ['test']],
  [['policy', 'test', 'tw'], ['two.json']],
  [['check', '--config', 'on'], ['one.yaml']],
  [['check', '-c', 'on'], ['one.yaml']],
  [['explain', '--user', ''], []],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['help', 'who'], ['who-can']],
  [['who-can', 'throwSig'], ['throwSignal']],
]
