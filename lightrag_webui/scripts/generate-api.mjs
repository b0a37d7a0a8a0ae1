// Makes src/api/generated.ts from the snapshot of the server's interface, tests/api/openapi.json.
//   node scripts/generate-api.mjs           writes it
//   node scripts/generate-api.mjs --check   fails when it is not up to date
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const snapshot = resolve(here, '../../tests/api/openapi.json')
const target = resolve(here, '../src/api/generated.ts')
const METHODS = ['get', 'post', 'put', 'patch', 'delete']

const quote = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))
const typeName = (name) => name.replace(/[^A-Za-z0-9]+/g, '_')

/** Returns the TypeScript type of a JSON schema. */
function typeOf(schema, indent = '') {
  if (!schema || schema === true || Object.keys(schema).length === 0) return 'unknown'
  if (schema.$ref) return typeName(schema.$ref.split('/').pop())
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return [...new Set(choices.map((one) => typeOf(one, indent)))].join(' | ')
  if (schema.allOf) return schema.allOf.map((one) => typeOf(one, indent)).join(' & ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(' | ')
  switch (schema.type) {
    case 'string':
      return schema.format === 'binary' || schema.contentMediaType ? 'Blob' : 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array': {
      const item = typeOf(schema.items, indent)
      return item.includes(' ') ? `Array<${item}>` : `${item}[]`
    }
    default:
      return objectType(schema, indent)
  }
}

function objectType(schema, indent) {
  if (!schema.properties) {
    const value = typeof schema.additionalProperties === 'object' ? typeOf(schema.additionalProperties, indent) : 'unknown'
    return `Record<string, ${value}>`
  }
  const inner = `${indent}  `
  const required = new Set(schema.required ?? [])
  const lines = Object.entries(schema.properties).map(([name, property]) => {
    const text = (property.description ?? '').replaceAll('*/', '* /').replace(/\s+/g, ' ')
    const comment = text ? `${inner}/** ${text} */\n` : ''
    return `${comment}${inner}${quote(name)}${required.has(name) ? '' : '?'}: ${typeOf(property, inner)}`
  })
  return `{\n${lines.join('\n')}\n${indent}}`
}

function bodyOf(content) {
  const media = content?.['application/json'] ?? content?.['multipart/form-data'] ?? content?.['application/x-www-form-urlencoded']
  return media?.schema ? typeOf(media.schema, '    ') : 'unknown'
}

function operationType(path, method, operation) {
  const query = (operation.parameters ?? []).filter((one) => one.in === 'query')
  const queryType = query.length
    ? objectType(
        {
          properties: Object.fromEntries(query.map((one) => [one.name, { ...one.schema, description: one.description }])),
          required: query.filter((one) => one.required).map((one) => one.name),
        },
        '    ',
      )
    : 'undefined'
  const summary = (operation.description ?? operation.summary ?? '').split('\n')[0]
  return [
    `  /** ${summary} */`,
    `  ${quote(operation.operationId)}: {`,
    `    method: ${JSON.stringify(method.toUpperCase())}`,
    `    path: ${JSON.stringify(path)}`,
    `    query: ${queryType}`,
    `    body: ${operation.requestBody ? bodyOf(operation.requestBody.content) : 'undefined'}`,
    `    response: ${bodyOf(operation.responses?.['200']?.content)}`,
    '  }',
  ].join('\n')
}

const document = JSON.parse(readFileSync(snapshot, 'utf8'))
const schemas = Object.entries(document.components?.schemas ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
const types = schemas.map(([name, schema]) => `export type ${typeName(name)} = ${typeOf(schema)}\n`)
const operations = []
for (const [path, item] of Object.entries(document.paths)) {
  for (const method of METHODS) {
    if (item[method]?.operationId) operations.push([path, method, item[method]])
  }
}
operations.sort((a, b) => (a[2].operationId < b[2].operationId ? -1 : 1))
const routes = operations.map(
  ([path, method, operation]) =>
    `  ${quote(operation.operationId)}: { method: ${JSON.stringify(method.toUpperCase())}, path: ${JSON.stringify(path)} },`,
)
const text = [
  '// Made by scripts/generate-api.mjs from tests/api/openapi.json. Changes by hand are lost.\n',
  ...types,
  `export interface Operations {\n${operations.map((one) => operationType(...one)).join('\n')}\n}\n`,
  `export const ROUTES = {\n${routes.join('\n')}\n} as const\n`,
].join('\n')

if (process.argv.includes('--check')) {
  let known = ''
  try {
    known = readFileSync(target, 'utf8')
  } catch {
    // A file that is missing is not up to date.
  }
  if (known !== text) {
    console.error('src/api/generated.ts is not what tests/api/openapi.json says; run: npm run api')
    process.exit(1)
  }
} else {
  writeFileSync(target, text)
}
