import Foundation
import Testing
import UnderstudyClient

@Suite("JSON")
struct JSONValueTests {
    @Test("It is read and written as it is")
    func roundTrip() throws {
        let text = #"{"a":[null,true,false,1,-2.5,"é\"\n",{}],"b":{"c":9007199254740993},"d":1e300}"#
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(value["a"] == [nil, true, false, 1, -2.5, "é\"\n", [:]])
        #expect(value["b"]?["c"]?.int == 9_007_199_254_740_993)
        #expect(value["d"]?.double == 1e300)
        #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value)) == value)
    }

    @Test("Parts are found by kind")
    func parts() throws {
        let value: JSONValue = ["text": "word", "whole": 2, "list": [1, nil], "yes": true]
        #expect(value["text"]?.string == "word" && value["text"]?.int == nil && value["none"] == nil)
        #expect(value["whole"]?.double == 2 && value["whole"]?.bool == nil && value["yes"]?.bool == true)
        #expect(value["list"]?[1] == .some(.null) && value["list"]?[2] == nil && value["text"]?[0] == nil)
        #expect(value.description == #"{"list":[1,null],"text":"word","whole":2,"yes":true}"#)
        #expect(JSONValue(stringLiteral: "word").description == "word")
        #expect(1.0 as JSONValue == 1)
        #expect(JSONValue.number(.infinity).description == "inf")
    }
}
