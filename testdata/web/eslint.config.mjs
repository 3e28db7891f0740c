// What is most often a mistake in a script without a library.
import js from "@eslint/js";

const browser = [
	"Intl",
	"URLSearchParams",
	"addEventListener",
	"document",
	"getSelection",
	"history",
	"innerWidth",
	"location",
	"navigator",
	"requestAnimationFrame",
	"setTimeout",
];

export default [
	js.configs.recommended,
	{
		languageOptions: { sourceType: "module", globals: Object.fromEntries(browser.map((name) => [name, "readonly"])) },
		linterOptions: { reportUnusedDisableDirectives: "error" },
		rules: {
			"array-callback-return": "error",
			eqeqeq: "error",
			"no-implicit-globals": "error",
			"no-shadow": "error",
			"no-unused-vars": "error",
			"no-use-before-define": ["error", { functions: false, variables: false }],
			"no-var": "error",
			"object-shorthand": "error",
			"prefer-const": "error",
		},
	},
	{ files: ["diff/*.js"], languageOptions: { sourceType: "script" } },
];
