/** What is completed at the end of a line, in every shell, beside `one.yaml` and `two.json`. */
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
