import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.CloseableIterator;

/** Prints what the Java client reads in record batches: lines of name and hex, from a file or standard input. See README.md. */
public class CheckRecords {
    public static void main(String[] args) throws IOException {
        boolean failed = false;
        try (BufferedReader lines = args.length > 0
                ? Files.newBufferedReader(Path.of(args[0]))
                : new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] parts = line.split(" ");
                try {
                    check(parts[0], ByteBuffer.wrap(HexFormat.of().parseHex(parts[1])));
                } catch (RuntimeException e) {
                    failed = true;
                    System.out.println(parts[0] + " ERROR " + e);
                }
            }
        }
        System.exit(failed ? 1 : 0);
    }

    private static void check(String name, ByteBuffer buffer) {
        MemoryRecords records = MemoryRecords.readableRecords(buffer);
        if (records.validBytes() != buffer.remaining()) {
            throw new IllegalStateException(records.validBytes() + " of " + buffer.remaining() + " bytes are whole batches");
        }
        for (MutableRecordBatch batch : records.batches()) {
            batch.ensureValid();
            try (CloseableIterator<Record> iterator = batch.streamingIterator(BufferSupplier.NO_CACHING)) {
                while (iterator.hasNext()) {
                    System.out.println(name + " " + describe(iterator.next()));
                }
            }
        }
    }

    private static String describe(Record record) {
        List<String> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            headers.add(describe(header.key().getBytes(StandardCharsets.UTF_8)) + "=" + describe(header.value()));
        }
        return record.offset() + " " + record.timestamp() + " " + record.sequence() + " "
            + describe(record.hasKey() ? copy(record.key()) : null) + " "
            + describe(record.hasValue() ? copy(record.value()) : null) + " "
            + (headers.isEmpty() ? "-" : String.join(",", headers));
    }

    private static byte[] copy(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    private static String describe(byte[] bytes) {
        if (bytes == null) {
            return "-";
        }
        if (bytes.length == 0) {
            return "\"\"";
        }
        if (bytes.length <= 32) {
            return HexFormat.of().formatHex(bytes);
        }
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return bytes.length + "#" + HexFormat.of().toHexDigits((int) crc.getValue());
    }
}
