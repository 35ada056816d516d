// Reads an SBOM of `npm sbom` in the format CycloneDX. Prints it without packages that only the development needs, and with the name
// of the project, for which npm uses the name of its folder. `npm sbom --omit dev` is not used, because npm then also omits packages
// that both the project and its development need.
import { readFileSync } from 'node:fs'

const [name] = process.argv.slice(2)
const sbom = JSON.parse(readFileSync(0, 'utf8'))
const isOfDevelopment = ({ properties = [] }) =>
  properties.some((property) => property.name === 'cdx:npm:package:development' && property.value === 'true')
const omitted = new Set(sbom.components.filter(isOfDevelopment).map((one) => one['bom-ref']))
sbom.metadata.component.name = name
sbom.components = sbom.components.filter((one) => !omitted.has(one['bom-ref']))
sbom.dependencies = sbom.dependencies
  .filter(({ ref }) => !omitted.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => !omitted.has(other)) }))
console.log(JSON.stringify(sbom, null, 2))
