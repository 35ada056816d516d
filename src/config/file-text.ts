import { isUtf8 } from 'node:buffer'

/** Returns the text of a file. @throws Error that says how to save the file, if it is not a text in UTF-8 */
export function textIn(bytes: Buffer): string {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw new Error('the file is a text in UTF-16: save it in UTF-8')
  if (!isUtf8(bytes)) throw new Error('the file is not a text in UTF-8: save it in UTF-8')
  if (bytes.includes(0)) throw new Error('the file is not a text, because it contains a zero byte')
  return bytes.toString('utf8')
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist, because a part of its path is not a folder',
  EISDIR: 'is a folder, not a file',
  EACCES: 'is not readable by the user of this process',
}

/** Returns the reason why a file cannot be read, to follow its path. Returns null if it is not an error of the file system. */
export function fileReasonOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return null
  // A system error ends with the path: `EIO: i/o error, read '/users.yaml'`.
  return REASONS[String(error.code)] ?? `cannot be read: ${error.message.replace(/, .*/s, '')}`
}
