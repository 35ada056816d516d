import { LRUCache } from 'lru-cache'
import { jsonValueOf } from '../request/value.ts'
import type { Signer } from './signature.ts'

interface MessagesOptions {
  /** The id of this sender. */
  readonly self: string
  readonly channel: string
  readonly signer: Signer
  /** Milliseconds since 1970; default `Date.now`. */
  readonly wallNow?: () => number
}

interface Message {
  readonly from: string
  readonly topic: string
  readonly about: string
}

/** Encodes the messages between gateways. With keys, a message is accepted once and for a short time. */
export interface Messages {
  /** Encodes `[from, topic, about]`, given in JSON. */
  readonly write: (content: string) => string
  /** Decodes a text. Returns `unsigned` if it is not signed by a key, too old, or repeated, and null if it is not a message. */
  readonly read: (text: string) => Message | 'unsigned' | null
}

/** Allowed difference between the clocks of two gateways, and age of a message. */
const MAX_AGE_MS = 5 * 60_000
/** Maximum number of senders whose last message number is stored. The sender that was silent for longest is dropped first. */
const MAX_SENDERS = 1000

/**
 * Creates the encoding. A signed text is the signature, a space, and `[number, time, [from, topic, about]]`. Each sender numbers
 * its messages.
 */
export function createMessages({ self, channel, signer, wallNow = Date.now }: MessagesOptions): Messages {
  const lastBySender = new LRUCache<string, number>({ max: MAX_SENDERS })
  let written = 0

  function isNew(from: string, number: number): boolean {
    const last = lastBySender.peek(from) ?? 0
    if (number <= last) return false
    lastBySender.set(from, number)
    return true
  }

  return {
    write: (content) => {
      if (!signer.signs) return content
      const body = Buffer.from(`[${(written += 1)},${wallNow()},${content}]`)
      const signed = signer.sign(channel, body)
      const mac = signed.subarray(0, signed.length - body.length)
      return `${mac.toString('base64url')} ${body.toString()}`
    },
    read: (text) => {
      if (!signer.signs) return asMessage(jsonValueOf(text))
      const body = openText(signer, channel, text)
      const [number, atMs, content] = listOf(body === null ? null : jsonValueOf(body))
      const message = asMessage(content)
      if (message === null || typeof number !== 'number' || typeof atMs !== 'number') return 'unsigned'
      if (message.from === self) return message
      if (Math.abs(wallNow() - atMs) > MAX_AGE_MS) return 'unsigned'
      return isNew(message.from, number) ? message : 'unsigned'
    },
  }
}

function openText(signer: Signer, channel: string, text: string): Buffer | null {
  const space = text.indexOf(' ')
  const mac = Buffer.from(text.slice(0, Math.max(0, space)), 'base64url')
  return signer.open(channel, Buffer.concat([mac, Buffer.from(text.slice(space + 1))]))
}

function asMessage(value: unknown): Message | null {
  const [from, topic, about] = listOf(value)
  const isMessage = typeof from === 'string' && typeof topic === 'string' && typeof about === 'string'
  return isMessage ? { from, topic, about } : null
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
