// Q in DuckDB: for each line on standard input one run, answered by
// "milliseconds result"; the first by "version result".
import { createInterface } from 'node:readline';
import { DuckDBInstance, version } from '@duckdb/node-api';

const folder = process.argv[2];
const file = (name, type) =>
	`read_csv('${folder}/${name}.csv', header = true, columns = {'id': 'BIGINT', '${name}': '${type}'}) AS ${name}`;
const query = `SELECT count(*), count(colour), sum(length), sum(mass), sum(id)
	FROM ${file('colour', 'VARCHAR')} FULL JOIN ${file('length', 'INTEGER')} USING (id)
	FULL JOIN ${file('mass', 'FLOAT')} USING (id)`;

const connection = await (await DuckDBInstance.create(':memory:')).connect();
let runs = 0;
for await (const line of createInterface({ input: process.stdin })) {
	const start = performance.now();
	const rows = (await connection.runAndReadAll(query)).getRows();
	const time = performance.now() - start;
	console.log(`${runs++ === 0 ? version() : time.toFixed(3)} ${rows[0].join('|')}`);
}
