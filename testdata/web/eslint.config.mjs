// What is most often a mistake in a script without a library.
import js from "@eslint/js";

const browser = [
	"Intl",
	"ResizeObserver",
	"URLSearchParams",
	"addEventListener",
	"devicePixelRatio",
	"document",
	"getComputedStyle",
	"getSelection",
	"history",
	"innerWidth",
	"location",
	"matchMedia",
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
	{ files: ["diff/*.js", "internal/htmlpage/*.js", "report/page/calls.js"], languageOptions: { sourceType: "script" } },
];
