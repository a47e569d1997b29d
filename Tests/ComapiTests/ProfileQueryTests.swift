import JSON
import Testing

@testable import Comapi

@Suite("Comapi's query language")
struct ProfileQueryTests {
    private static let profile: JSONObject = [
        "id": "mira", "email": "mira@example.test", "shoeSize": 38, "height": 1.5, "isMember": true, "nothing": nil,
        "address": ["city": "Brno", "zip": "60200"], "plus": "a+b", "tags": ["x"], "odd&name": "=",
    ]

    @Test(
        "a term holds or does not",
        arguments: [
            ("", true), ("&", true), ("email=mira@example.test", true), ("email=Mira@example.test", false),
            ("email=!mira@example.test", false), ("email!=mira@example.test", false), ("email!=x", true),
            ("email=!x", true), ("missing=!x", true), ("missing!=x", true), ("missing=x", false),
            ("shoeSize=38", true), ("shoeSize=38.0", true), ("shoeSize=39", false), ("shoeSize=>37", true),
            ("shoeSize=>38", false), ("shoeSize=>=38", true), ("shoeSize=<38", false), ("shoeSize=<=38", true),
            ("shoeSize=<100", true), ("shoeSize=>4", true), ("height=<2", true), ("email=>a", true),
            ("email=>z", false),
            ("missing=>1", false), ("email=^MIRA", true), ("email=^example", false), ("email=$.TEST", true),
            ("email=$mira", false), ("email=~EXAMPLE", true), ("email=~nobody", false), ("email=~", true),
            ("isMember=true", true), ("isMember=false", false), ("isMember=!false", true), ("zip=60200", false),
            ("address.zip=60200", true), ("address.city=^b", true), ("address.street=", false), ("address=", true),
            ("email=", true), ("missing=", false), ("email=!", false), ("missing=!", true), ("nothing=", true),
            ("email", true), ("id[]=bob&id[]=mira", true), ("id[]=bob", false), ("id[]=!bob&id[]=!ann", true),
            ("id[]=!bob&id[]=!mira", false), ("missing[]=x", false), ("missing[]=!x", true),
            ("email=~mira&shoeSize=>30", true), ("email=~mira&shoeSize=>40", false), ("plus=a+b", true),
            ("plus=a%2Bb", true), ("email=mira%40example.test", true), ("odd%26name==", true),
            ("email=%7EEXAMPLE", true), ("tags=x", false), ("email=%zz", false), ("address.city.x=", false),
        ])
    func term(_ text: String, _ holds: Bool) {
        #expect(ComapiProfileQuery(text[...]).matches(Self.profile) == holds)
    }

    @Test("of a long text the first four thousand bytes are searched, start and end are found wherever they are")
    func longText() {
        let text = String(repeating: "x", count: 4092) + "nine" + "ten" + "end"
        let profile: JSONObject = ["text": .string(text)]
        for (query, holds) in [
            ("text=~nine", true), ("text=~ninet", false), ("text=~ten", false), ("text=$NEND", true),
            ("text=^xx", true),
        ] {
            #expect(ComapiProfileQuery(query[...]).matches(profile) == holds, "\(query)")
        }
    }

    @Test("numbers are equal when they are the same number, however large and however they are written")
    func largeNumbers() throws {
        let profile: JSONObject = ["n": try JSON.parse("1e999999999".utf8)]
        #expect(ComapiProfileQuery("n=10e999999998").matches(profile))
        #expect(!ComapiProfileQuery("n=1e999999998").matches(profile))
    }

    @Test("terms are counted, those of one list once")
    func count() {
        #expect(ComapiProfileQuery("a=1&b[]=1&b[]=2&b[]=!3&c=").termCount == 4)
        #expect(ComapiProfileQuery("").termCount == 0)
    }
}
