import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { makeFolder } from './temporary-folder.ts'

/**
 * Certificates made for these tests: an authority, a server certificate for `localhost` without an IP address, a client
 * certificate, an authority that signed neither, and a certificate that expired on 2026-11-24.
 */
const PEM = {
  'ca.crt': `-----BEGIN CERTIFICATE-----
MIIBizCCATGgAwIBAgIUHJFf8kNeP737ilo/rgovNxacdkgwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHVGVzdCBDQTAgFw0yNjExMjMwMzEzNTlaGA8yMTI2MTAzMDAz
MTM1OVowEjEQMA4GA1UEAwwHVGVzdCBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABE3uIdqdNdMibCxST5os8AyZBC9H2vBWup9CnBfVK4njtPfZ/wcMV5shOleS
4SMd3+yUHDaYGMWIQFZILFcQ/q6jYzBhMB0GA1UdDgQWBBSLVNznO9HF7TURZUhO
laUIPCU/pDAfBgNVHSMEGDAWgBSLVNznO9HF7TURZUhOlaUIPCU/pDAPBgNVHRMB
Af8EBTADAQH/MA4GA1UdDwEB/wQEAwICBDAKBggqhkjOPQQDAgNIADBFAiA7Bqzf
4MKM1v8rQtu/32FexH4bnJpQ3c/NXi4e36e1cwIhAI0qvPOJKOJzzGDG58e0rYm3
OoWqqc1PLtOxNbK0vloY
-----END CERTIFICATE-----
`,
  'server.crt': `-----BEGIN CERTIFICATE-----
MIIBnTCCAUSgAwIBAgIUWgxh3F2EQyTov51Un2oElXa4IQUwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHVGVzdCBDQTAgFw0yNjExMjMwMzE0MDBaGA8yMTI2MTAzMDAz
MTQwMFowETEPMA0GA1UEAwwGc2VydmVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAEhK3t1RC3yWbflOsQz9FY+fO5IngZCPgfICALDqe8XajYAVjcEm0vcWVOskR7
N1GfTp8ODHNZsIcbMBsqPqv33KN3MHUwFAYDVR0RBA0wC4IJbG9jYWxob3N0MB0G
A1UdJQQWMBQGCCsGAQUFBwMBBggrBgEFBQcDAjAdBgNVHQ4EFgQU9n0E4xJ08nYd
8akXGNy8NOQLZ2gwHwYDVR0jBBgwFoAUi1Tc5zvRxe01EWVITpWlCDwlP6QwCgYI
KoZIzj0EAwIDRwAwRAIgJvCF5sRMKRscLj8tS9JEsF82D15UYv3SppwhwHrHNc4C
IBEh+n7xJZzt2m3k7XidxE8dKT5YyF26HKsALY8aSvf1
-----END CERTIFICATE-----
`,
  'server.key': `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgwVSHv2BMq8tM1RFo
AoYl04ZhQfwyboLbjIggTAv4N1ehRANCAASEre3VELfJZt+U6xDP0Vj587kieBkI
+B8gIAsOp7xdqNgBWNwSbS9xZU6yRHs3UZ9Onw4Mc1mwhxswGyo+q/fc
-----END PRIVATE KEY-----
`,
  'client.crt': `-----BEGIN CERTIFICATE-----
MIIBfzCCASSgAwIBAgIUWgxh3F2EQyTov51Un2oElXa4IQYwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHVGVzdCBDQTAgFw0yNjExMjMwMzE0MDBaGA8yMTI2MTAzMDAz
MTQwMFowETEPMA0GA1UEAwwGY2xpZW50MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAE+wX9y8w9WvgIh3LsN7XomDu3VnxG9v21f/pnpfFKHZfdfyRlIjvThECsBL9y
e3tNIOoxPBzK56zZqqlMIj8pwaNXMFUwEwYDVR0lBAwwCgYIKwYBBQUHAwIwHQYD
VR0OBBYEFCcK8TIriJoWAYsjwLwvGeWU5ihlMB8GA1UdIwQYMBaAFItU3Oc70cXt
NRFlSE6VpQg8JT+kMAoGCCqGSM49BAMCA0kAMEYCIQDT6Hid1VqXBWm/JpMOEHNa
ODR8ZZTTRQGArTWkljanAQIhAPkW3/Mrxr8TVqtRnXjIufOB5qnhITV+myMbJnLO
/g91
-----END CERTIFICATE-----
`,
  'client.key': `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5ZNYKCJfm9rGJhpW
OMoxP3okIVncwD+tQmxzREY3UVihRANCAAT7Bf3LzD1a+AiHcuw3teiYO7dWfEb2
/bV/+mel8Uodl91/JGUiO9OEQKwEv3J7e00g6jE8HMrnrNmqqUwiPynB
-----END PRIVATE KEY-----
`,
  'other.crt': `-----BEGIN CERTIFICATE-----
MIIBgTCCASegAwIBAgIUcb8y1Mzvm5ud+nuznZ4YqA80TuwwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKQW5vdGhlciBDQTAgFw0yNjExMjMwMzE0MDBaGA8yMTI2MTAz
MDAzMTQwMFowFTETMBEGA1UEAwwKQW5vdGhlciBDQTBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABMymNs3X4AmjTq9Gd1hnpOSPKCr4gXX7JsZYtHpsnSw6Gb7ZZ55o
yig6nGYZ9DsC5xvKv2ODADl+m/xnatjOa3ejUzBRMB0GA1UdDgQWBBRu0Ne73DEa
4BN4oOILXt/OIKt2DTAfBgNVHSMEGDAWgBRu0Ne73DEa4BN4oOILXt/OIKt2DTAP
BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQCHsYsnukxFsuN1qniZ
bH0b2XK0rcn1dvuCS+AbbFNodQIgBVrqev/PiY1RgkNv1/er9TszpKWSD8FA8GvN
2h6Gn7Y=
-----END CERTIFICATE-----
`,
  'ended.crt': `-----BEGIN CERTIFICATE-----
MIIBdzCCAR2gAwIBAgIUc/taCI5hvPx0mwhBiPFq3EZbgfcwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGZW5kaW5nMB4XDTI2MTEyMzA3NDY1MVoXDTI2MTEyNDA3NDY1
MVowETEPMA0GA1UEAwwGZW5kaW5nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
3dC8I0BQ4+FyzDZcW+/FdXkuF5NBtNc5ZCSYhGEPe+/WDcq/OZnvBYs7WUOoeBX9
wwQ1WaE9mYgtwDwdpscoNqNTMFEwHQYDVR0OBBYEFBc2we7Eny97yaZSu2a/MF1n
gEv4MB8GA1UdIwQYMBaAFBc2we7Eny97yaZSu2a/MF1ngEv4MA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgTAFD9gAEiWxzttl8wZpfZNymcR9k7X8C
xDHW3Yvx4TMCIQDleoKNuv7aEpkjIY5nwKNhU+TJQO6Uxpms7h2whrAcxg==
-----END CERTIFICATE-----
`,
  'ended.key': `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJsSFX6lNkKEK6cqc
HyHZMCgBojFF44l9DimqHBcfZruhRANCAATd0LwjQFDj4XLMNlxb78V1eS4Xk0G0
1zlkJJiEYQ9779YNyr85me8FiztZQ6h4Ff3DBDVZoT2ZiC3APB2mxyg2
-----END PRIVATE KEY-----
`,
} as const

export type PemFile = keyof typeof PEM

/** Writes all of them to the folder of the test. Returns the path of each file. */
export function writeCertificates(t: Test): Readonly<Record<PemFile, string>> {
  const folder = makeFolder(t)
  const at = (name: PemFile): string => {
    const file = join(folder, name)
    writeFileSync(file, PEM[name])
    return file
  }
  return {
    'ca.crt': at('ca.crt'),
    'server.crt': at('server.crt'),
    'server.key': at('server.key'),
    'client.crt': at('client.crt'),
    'client.key': at('client.key'),
    'other.crt': at('other.crt'),
    'ended.crt': at('ended.crt'),
    'ended.key': at('ended.key'),
  }
}

/** Replaces the content of a file by that of another certificate or key. */
export function replacePem(file: string, by: PemFile): void {
  writeFileSync(file, PEM[by])
}
