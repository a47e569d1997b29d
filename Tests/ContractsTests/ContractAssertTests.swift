import Contracts
import JSON
import Testing

@Suite("Asserts of contract cases")
struct ContractAssertTests {
    private static let answer = ContractAnswer(
        status: 201, fields: [("Content-Type", "text/plain"), ("Vary", "A"), ("vary", "B"), ("Count", "12")],
        body: Array(
            #"{"s":"Hello World","n":3,"f":1.50,"big":9007199254740993,"t":true,"z":null,"e":[],"l":[1,"two",3.0],"o":{"k":"v"},"d":"2027-01-15","c":"a\r\nb\r\nc"}"#
                .utf8))

    private func failures(_ assert: String) async throws -> [String] {
        let result = try await Script([Self.answer]).run(
            "GET http://a\nHTTP *\n[Asserts]\n\(assert)\n",
            ["name": "World", "three": 3, "size": JSON(Self.answer.body.count)])
        return result.cases[0].failures.map(\.message)
    }

    static let holding = [
        "status == 201", "status != 200", "status >= 201", "status < 300", "header \"content-type\" == \"text/plain\"",
        "header \"Vary\" count == 2", "header \"Vary\" includes \"B\"", "header \"Vary\" nth 0 == \"A\"",
        "header \"none\" not exists", "header \"none\" not == \"x\"", "header \"Count\" toInt == 12",
        "header \"Count\" toFloat == 12.0", "body contains \"Hello {{name}}\"", "bytes count == {{size}}",
        "bytes startsWith hex,7B22;", "bytes endsWith base64,fQ==;", "bytes contains hex,48656c6c6f;",
        "jsonpath \"$.s\" == \"Hello World\"", "jsonpath \"$.s\" startsWith \"Hello\"",
        "jsonpath \"$.s\" endsWith \"{{name}}\"",
        "jsonpath \"$.s\" matches /^H.*d$/", "jsonpath \"$.s\" not matches \"\\\\d\"", "jsonpath \"$.s\" isString",
        "jsonpath \"$.s\" not isInteger", "jsonpath \"$.s\" split \" \" count == 2",
        "jsonpath \"$.s\" split \" \" last == \"World\"",
        "jsonpath \"$.s\" replace \"World\" \"you\" == \"Hello you\"",
        "jsonpath \"$.s\" regex /(W[a-z]+)/ == \"World\"",
        "regex /\"n\":([0-9]+)/ == \"3\"", "jsonpath \"$.s\" > \"Hell\"", "jsonpath \"$.n\" == 3",
        "jsonpath \"$.n\" == {{three}}",
        "jsonpath \"$.n\" == 3.0", "jsonpath \"$.n\" isInteger", "jsonpath \"$.n\" isNumber", "jsonpath \"$.n\" <= 3",
        "jsonpath \"$.f\" == 1.5", "jsonpath \"$.f\" isFloat", "jsonpath \"$.big\" != 9007199254740992",
        "jsonpath \"$.t\" == true", "jsonpath \"$.t\" isBoolean", "jsonpath \"$.z\" == null", "jsonpath \"$.z\" exists",
        "jsonpath \"$.none\" not exists", "jsonpath \"$.e\" isEmpty", "jsonpath \"$.e\" count == 0",
        "jsonpath \"$.l\" not isEmpty",
        "jsonpath \"$.l\" count == 3", "jsonpath \"$.l\" first == 1", "jsonpath \"$.l[*]\" includes \"two\"",
        "jsonpath \"$.l[?@ == 3]\" count == 1", "jsonpath \"$.l[?@ == 4]\" isEmpty", "jsonpath \"$.o\" isCollection",
        "jsonpath \"$.o\" count == 1", "jsonpath \"$.l\" isCollection", "variable \"name\" == \"World\"",
        "jsonpath \"$.c\" split \"\\n\" count == 3", "jsonpath \"$.c\" split \"\\n\" first == \"a\\r\"",
        "jsonpath \"$.c\" replace \"\\r\" \"\" == \"a\\nb\\nc\"",
        "jsonpath \"$.c\" replace \"\\n\" \"-\" contains \"\\r-\"",
        "variable \"none\" not exists", "body jsonpath \"$.n\" == 3", "status == 201 # why",
    ]

    @Test("hold", arguments: Self.holding)
    func hold(_ assert: String) async throws {
        #expect(try await failures(assert) == [])
    }

    static let failing: [(String, String)] = [
        ("status == 200", "status == 200: found 201"),
        ("status not == 201", "status not == 201: found 201, for which it does hold"),
        ("header \"none\" exists", "header \"none\" exists: found nothing"),
        ("header \"none\" count == 0", "nothing was found for the filter count to work on"),
        ("jsonpath \"$.s\" == \"hello\"", "jsonpath \"$.s\" == \"hello\": found “Hello World”"),
        ("jsonpath \"$.n\" == \"3\"", "jsonpath \"$.n\" == \"3\": found 3"),
        (
            "jsonpath \"$.n\" contains \"3\"",
            "jsonpath \"$.n\" contains \"3\": found a JSON number, 3, of which this cannot be asked"
        ),
        (
            "jsonpath \"$.n\" not contains \"4\"",
            "jsonpath \"$.n\" not contains \"4\": found a JSON number, 3, of which this cannot be asked"
        ),
        (
            "jsonpath \"$.s\" > 3",
            "jsonpath \"$.s\" > 3: found a JSON string, “Hello World”, of which this cannot be asked"
        ),
        (
            "jsonpath \"$.t\" isEmpty",
            "jsonpath \"$.t\" isEmpty: found a JSON boolean, true, of which this cannot be asked"
        ),
        ("jsonpath \"$.f\" isInteger", "jsonpath \"$.f\" isInteger: found 1.50"),
        ("jsonpath \"$.none\" == 1", "jsonpath \"$.none\" == 1: found nothing"),
        ("jsonpath \"$.l\" nth 3 exists", "jsonpath \"$.l\" nth 3 exists: found nothing"),
        ("jsonpath \"$.s\" count == 1", "the filter count cannot work on a JSON string, “Hello World”"),
        ("jsonpath \"$.s\" toInt == 1", "the filter toInt cannot work on a JSON string, “Hello World”"),
        ("jsonpath \"$.s\" jsonpath \"$\" exists", "the content is not JSON: line 1, column 1: unexpected “H”"),
        (
            "jsonpath \"$.{{name}}.\" exists",
            "“$.World.”, character 9: found the end; expected “*” or a name of letters, digits and “_”; write other names as ['name']"
        ),
        ("body regex /Hello/ exists", "the regular expression has no group whose text could be taken"),
        ("body matches \"{{name}}(\"", "“World(” is not a supported regular expression"),
        ("bytes == hex,00;", "bytes == hex,00;: found \(answer.body.count) bytes"),
    ]

    @Test("fail, and say what was found", arguments: Self.failing)
    func fail(_ assert: String, _ message: String) async throws {
        #expect(try await failures(assert) == [message])
    }
}
