import { jsonSchema } from './jsonSchema.js'

export interface StarterFile {
	/** Relative to the folder that `init` writes into. */
	readonly path: string
	readonly content: string
}

/** The variables in the starter's `tracewatch.yaml`. The starter passes `check` once they are set. */
export const starterVariables = ['ETHEREUM_RPC_URL', 'SMTP_URL', 'OPS_HOOK_URL', 'OPS_HOOK_SECRET'] as const

/** The files that `tracewatch init` writes. */
export function starterFiles(): readonly StarterFile[] {
	return [
		{ path: 'tracewatch.yaml', content: settings },
		{ path: 'watchlists/example.yaml', content: watchlist },
		{ path: '.env.example', content: variables },
		{ path: 'schema/config.json', content: `${JSON.stringify(jsonSchema('config'), null, 2)}\n` },
		{ path: 'schema/watchlist.json', content: `${JSON.stringify(jsonSchema('watchlist'), null, 2)}\n` },
	]
}

const settings = `# yaml-language-server: $schema=schema/config.json
# Settings of tracewatch. \`tracewatch check\` says what they mean and what is wrong with them.
#
# \${NAME} is the environment variable NAME, else the content of the file that NAME_FILE names, else the systemd
# credential NAME. Keep keys and passwords there, not here. $\${ writes a plain \${.
# Relative paths start at the folder of this file.

networks:
  - name: ethereum               # in watchlists, alerts and metrics
    chain_id: 1                  # an endpoint of another chain is refused
    rpc:                         # in order of preference; must offer trace_filter, trace_block or debug_trace…
      - \${ETHEREUM_RPC_URL}
    schedule: "*/12 * * * * *"   # when to poll, as node-cron takes it, seconds first
    confirmations: 0             # blocks to stay behind the head, or: safe, finalized
    explorer: https://etherscan.io   # for links in alerts; drop it for none
    # tokens:                    # whose transfers are reported too, under symbols of your own
    #   - {symbol: USDC, address: 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48, decimals: 6, min_amount: 100}

receivers:
  - name: ops-mail
    type: email
    smtp: \${SMTP_URL}            # smtps://user:password@host:465, or smtp://user:password@host:587
    from: tracewatch@example.org
    to: [ops@example.org]        # each gets a mail of its own
    fallback: ops-hook           # is notified when mails fail
  - name: ops-hook
    type: webhook
    url: \${OPS_HOOK_URL}
    secret: \${OPS_HOOK_SECRET}   # signs each request as Standard Webhooks says

watchlists: watchlists           # a folder (its *.yaml, *.yml), or a list of files
state: state                     # folder of the state file; back it up, never share it between two daemons
`

const watchlist = `# yaml-language-server: $schema=../schema/watchlist.json
# Addresses of one network, and who is notified of them. Saved edits take effect while tracewatch runs.

network: ethereum                # a name from tracewatch.yaml
receivers: [ops-mail, ops-hook]  # for every watch below that names none

watches:
  # The least that a watch needs: every transfer and deployment from now on, and all else that moves its balance.
  - address: 0x00000000219ab540356cBB839Cbe05303d7705Fa

  # Everything that it can say.
  - address: 0x742d35Cc6634C0532925a3b844Bc454e4438f44e   # quoted or not; a wrong EIP-55 checksum is an error
    label: Treasury
    tags: [cold]
    kinds: [transfer, deployment]   # only these; default: all but income
    direction: both                 # in, out, both; default: both
    min_value: 0.5                  # in whole coins, or "250 gwei", "1 wei"; default: above 0
    receivers: [ops-hook]           # instead of those above
    # from_block: 19000000          # default: from the first block after it was first seen

# Many addresses stand better in a file: an address a line, then its label and its tags, with commas between.
# addresses_from: exchange.csv
`

const variables = `# The variables that tracewatch.yaml names. Copy this file to .env, fill it in, keep it out of
# version control, and load it with: set -a; . ./.env; set +a
# Under systemd use LoadCredential instead; each name below may be a credential.

ETHEREUM_RPC_URL='https://YOUR-PROVIDER/ENDPOINT_KEY/evm'

# User and password URL-encoded: @ is %40, / is %2F, # is %23, % is %25.
SMTP_URL='smtps://USER:PASSWORD@mail.example.org:465'

OPS_HOOK_URL='https://hooks.example.org/tracewatch'

# Make one with: echo "whsec_$(openssl rand -base64 32)"
OPS_HOOK_SECRET=
`
