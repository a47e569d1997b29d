// What a route reads and answers, from the vendor's OpenAPI document.

import { h, table, code } from './dom.js';

const known = new Map();

/** A vendor's document, read once. */
export function description(sandbox, vendor) {
  if (!known.has(vendor)) known.set(vendor, sandbox.get(`openapi/${vendor}.json`).catch(problem => { known.delete(vendor); throw problem; }));
  return known.get(vendor);
}

/** The parameters, an example answer, and the failures of a route, with what provokes each. */
export function routePanel(document, vendor, route) {
  // Documents know no path parameter of several segments, and a path once, whatever its parameters are called.
  const shape = path => path.replace(/\{[^}]*\}/g, '{}');
  const paths = Object.entries(document.paths).filter(([path]) => shape(path) === shape(route.path));
  const operation = paths.map(([, item]) => item[route.method.toLowerCase()]).find(each => each?.['x-route'] === route.route);
  if (!operation) return h('p', 'Its document does not describe this call.');
  const schemas = document.components.schemas;
  const whole = schema => schema?.$ref ? whole(schemas[schema.$ref.split('/').pop()]) : schema;
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const reads = [
    ...(operation.parameters ?? []).map(each => [each.name, each.in, each.required, each.schema]),
    ...members(whole(content?.schema), type === 'application/x-www-form-urlencoded' ? 'form' : 'body'),
  ];
  const answers = Object.entries(schemas).filter(([name]) => name.startsWith(`${route.route}.`) && /^\d+$/.test(name.slice(route.route.length + 1)));
  const failures = vendor.failures.filter(each => operation['x-failures']?.includes(each.failure));
  return h('div.panel', { role: 'region', label: `Details of ${route.route}` },
    table(`What ${route.route} reads`, ['Name', 'In', 'Required', 'Value'], reads.map(([name, place, isRequired, schema]) => [h('code', name), place, isRequired ? 'yes' : 'no', words(whole(schema))])),
    answers.map(([name, schema]) => h('div', h('h3', `An answer with ${name.split('.').pop()}`), code(example(schema, whole)))),
    table(`Failures of ${route.route}`, ['Failure', 'Status', 'When'], failures.map(each => [each.failure, each.status, each.about])));
}

const members = (schema, place) => Object.entries(schema?.properties ?? {}).map(([name, each]) => [name, place, schema.required?.includes(name), each]);

function words(schema = {}) {
  const values = schema.enum ?? ('const' in schema ? [schema.const] : null);
  const bounds = schema.minimum === undefined ? '' : ` from ${schema.minimum} to ${schema.maximum}`;
  return values?.join(', ') ?? [schema.format ?? schema.type ?? 'anything'].flat().join(' or ') + bounds;
}

/** A value that fits a schema; a text of some format says which. */
function example(given, whole, depth = 0) {
  const schema = whole(given);
  const inner = each => example(each, whole, depth + 1);
  if (!schema || typeof schema !== 'object' || depth > 12) return null;
  if ('const' in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return inner(schema.anyOf[0]);
  switch ([schema.type].flat()[0]) {
    case 'object': return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, each]) => [name, inner(each)]));
    case 'array': return schema.items ? [inner(schema.items)] : [];
    case 'string': return schema.format ?? '…';
    case 'integer': case 'number': return schema.minimum ?? 0;
    case 'boolean': return true;
    default: return null;
  }
}
