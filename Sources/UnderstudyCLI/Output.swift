import Foundation
import JSON

/// How commands write.
enum Output {
    /// Writes a line to standard output at once, also when it is a pipe.
    static func line(_ text: String = "") {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    /// Writes a value for programs.
    static func json(_ value: JSON) { line(value.prettyText) }

    /// Writes rows with aligned columns.
    static func table(_ rows: [[String]]) {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
        }
        for row in rows {
            let cells = row.enumerated().map { column, cell in
                column == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            line(cells.joined(separator: "  "))
        }
    }
}
