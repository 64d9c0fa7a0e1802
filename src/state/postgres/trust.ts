/**
 * Whose the tables are. Any role that may create something in the database can make the schema first; what hangs on its
 * tables (triggers, policies, defaults) would then run with the rights of ours, and its owner could write what is told.
 */

import { StateError } from '../../errors.js'
import type { Ask } from './database.js'

/**
 * What in the schema belongs, or runs what belongs, to a role that is neither this one, nor a superuser, nor the owner
 * of the database; and whether others may create things in it. By catalogues alone: nothing of the schema itself is
 * read.
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

/** Throws StateError `mismatch`. To be asked before anything of the schema is read, and again when it was made. */
export async function mustBeOurs(ask: Ask, host: string): Promise<void> {
	const [found] = await ask<{ what: string; owner: string }>(strangers)
	if (found === undefined) return
	throw new StateError(
		'mismatch',
		`the state in the database at ${host} is not this user's own: ${found.what} belongs to ${found.owner}, ` +
			'who could write what is told and run code as this user. Nothing was read or changed. ' +
			'Let a superuser look at the schema `tracewatch`, and drop it or give all of it ' +
			'to this user; or use a database of its own',
	)
}
