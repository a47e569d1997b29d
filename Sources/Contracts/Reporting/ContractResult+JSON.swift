package import JSON

extension ContractResult {
    package var json: JSON {
        [
            "file": .string(file), "passed": .bool(hasPassed),
            "cases": .array(told.map { $0.json }),
        ]
    }
}

extension ContractCase {
    fileprivate var json: JSON {
        [
            "line": JSON(place.line), "request": .string(title), "about": .string(remark),
            "outcome": .string(word.lowercased()), "status": status.map { JSON($0) } ?? .null,
            "failures": .array(failures.map(\.json)), "explanation": JSON(explanation),
        ]
    }
}

extension ContractFailure {
    fileprivate var json: JSON {
        [
            "line": JSON(place.line), "column": JSON(place.column), "message": .string(message),
            "difference": .array(difference.map(JSON.string)),
        ]
    }
}
