/** The reasons why the rules of a watch suppress an alert. */

export type Refusal = keyof typeof refusals

export const refusals = {
	direction: 'the other direction is watched',
	kinds: 'this kind is not watched',
	endowment: 'the deployment carries the endowment',
	min_value: 'below its min_value',
	tokens: 'this token is not one of its `tokens`',
	zero: 'it moves nothing, which is reported with `tokens: all` only',
	min_amount: 'below the min_amount of the token',
	calls: 'this function is not one of its `calls`',
	allowed_code: 'its `allowed_code` names this code',
	failed_calls: 'it failed, and `failed_calls` is not set',
	threshold: 'no threshold of it is crossed',
} as const
