/**
 * Checks who owns the tables. Any role that may create objects in the database could create the schema first; triggers,
 * policies and defaults on its tables would then run with this role's rights, and its owner could forge alerts.
 */

import { StateError } from '../../errors.js'
import type { Ask } from './database.js'

/**
 * Objects in the schema that belong to, or run code of, a role other than this one, superusers and the database's
 * owner; and whether other roles may create objects in it. Reads only catalogues, nothing in the schema itself.
 */
const strangers = `
	with trusted as (
		select oid from pg_catalog.pg_roles
		where rolname = current_user or rolsuper
			or oid = (select datdba from pg_catalog.pg_database where datname = current_database())
	), home as (
		select oid, nspowner, nspacl from pg_catalog.pg_namespace where nspname = 'tracewatch'
	), found as (
		select 'the schema' as what, nspowner as owner from home
		union all
		select 'the right to create in the schema', acl.grantee from home, pg_catalog.aclexplode(home.nspacl) acl
			where acl.privilege_type = 'CREATE'
		union all
		select 'the table or view ' || c.relname, c.relowner
			from pg_catalog.pg_class c join home on c.relnamespace = home.oid
		union all
		select 'the function ' || p.proname, p.proowner from pg_catalog.pg_proc p join home on p.pronamespace = home.oid
		union all
		select 'the trigger ' || t.tgname || ' on ' || c.relname, p.proowner
			from pg_catalog.pg_trigger t
			join pg_catalog.pg_class c on c.oid = t.tgrelid
			join home on c.relnamespace = home.oid
			join pg_catalog.pg_proc p on p.oid = t.tgfoid
			where not t.tgisinternal
	)
	select what, coalesce(r.rolname, 'everybody') as owner
	from found left join pg_catalog.pg_roles r on r.oid = found.owner
	where found.owner not in (select oid from trusted)
	order by what limit 1`

/**
 * Throws StateError `mismatch`. Call it before anything in the schema is read, and again after the schema was created.
 */
export async function mustBeOurs(ask: Ask, host: string): Promise<void> {
	const [found] = await ask<{ what: string; owner: string }>(strangers)
	if (found === undefined) return
	throw new StateError(
		'mismatch',
		`the state in the database at ${host} is not this user's own: ${found.what} belongs to ${found.owner}, ` +
			'who could change which alerts are sent and run code as this user. Nothing was read or changed. ' +
			'Let a superuser look at the schema `tracewatch`, and drop it or give all of it ' +
			'to this user; or use a database of its own',
	)
}
