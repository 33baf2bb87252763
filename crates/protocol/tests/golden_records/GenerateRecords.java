import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.utils.internals.ByteBufferOutputStream;

/** Prints record batches as the Java client makes them: one a line, name and hex. See README.md. */
public class GenerateRecords {
    private static final byte MAGIC = 2;

    public static void main(String[] args) {
        for (CompressionType codec : CompressionType.values()) {
            MemoryRecordsBuilder mixed = idempotent(codec);
            appendMixed(mixed);
            print("mixed-" + codec.name, mixed);
            if (codec != CompressionType.NONE) {
                MemoryRecordsBuilder big = idempotent(codec);
                appendBig(big);
                print("big-" + codec.name, big);
            }
            print("log-append-time-" + codec.name, logAppendTime(codec));
        }

        MemoryRecordsBuilder plain = builder(CompressionType.NONE, TimestampType.CREATE_TIME, 0, -1, -1L, (short) -1, -1, false, -1);
        plain.append(-1L, null, bytes("no timestamp"));
        print("no-timestamp", plain);

        MemoryRecordsBuilder transactional =
            builder(CompressionType.NONE, TimestampType.CREATE_TIME, 7, -1, 12L, (short) 1, Integer.MAX_VALUE - 1, true, 9);
        transactional.append(5L, null, bytes("a"));
        transactional.append(6L, null, bytes("b"));
        transactional.append(7L, null, bytes("c"));
        print("transactional-wrapping-sequence", transactional);

        MemoryRecordsBuilder horizon = new MemoryRecordsBuilder(new ByteBufferOutputStream(4096), MAGIC, Compression.NONE,
            TimestampType.CREATE_TIME, 3L, -1L, -1L, (short) -1, -1, false, false, 2, 4096, 123_456L);
        horizon.append(100_000L, bytes("k"), (byte[]) null);
        print("delete-horizon", horizon);

        print("commit", MemoryRecords.withEndTransactionMarker(20L, 1_600_000_000_000L, 4, 12L, (short) 1,
            new EndTransactionMarker(ControlRecordType.COMMIT, 8)).buffer());
        print("abort", MemoryRecords.withEndTransactionMarker(21L, 1_600_000_000_001L, 4, 12L, (short) 1,
            new EndTransactionMarker(ControlRecordType.ABORT, 9)).buffer());

        ByteBuffer empty = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
        DefaultRecordBatch.writeEmptyHeader(empty, MAGIC, 12L, (short) 1, 40, 30L, 35L, 4, TimestampType.CREATE_TIME, 77L, true, false);
        empty.flip();
        print("emptied-by-compaction", empty);
    }

    private static void appendMixed(MemoryRecordsBuilder builder) {
        builder.append(1000L, bytes("k0"), bytes("v0"));
        builder.append(999L, null, bytes("v1"), new Header[] {
            header("a", bytes("1")), header("a", bytes("2")), header("null", null), header("", new byte[0]),
            header("bytes", new byte[] {(byte) 0xff, 0, (byte) 0xc3}), header("ключ", bytes("значение")),
        });
        builder.append(1_700_000_000_000L, new byte[0], (byte[]) null);
        builder.append(1001L, new byte[] {(byte) 0xff, 0}, pattern(9000));
        for (int i = 0; i < 100; i++) {
            builder.append(1002L + i, null, bytes("record " + i));
        }
    }

    private static void appendBig(MemoryRecordsBuilder builder) {
        builder.append(1L, bytes("big"), pattern(300_000));
        builder.append(2L, null, bytes("small"));
    }

    private static MemoryRecordsBuilder logAppendTime(CompressionType codec) {
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(new ByteBufferOutputStream(4096), MAGIC, Compression.of(codec).build(),
            TimestampType.LOG_APPEND_TIME, 10L, 5000L, -1L, (short) -1, -1, false, false, -1, 4096);
        builder.append(1L, null, bytes("one"));
        builder.append(9_000L, null, bytes("two"));
        return builder;
    }

    private static MemoryRecordsBuilder idempotent(CompressionType codec) {
        return builder(codec, TimestampType.CREATE_TIME, 42, -1, 4711L, (short) 3, 100, false, 5);
    }

    private static MemoryRecordsBuilder builder(CompressionType codec, TimestampType type, long baseOffset, long logAppendTime,
            long producerId, short epoch, int sequence, boolean transactional, int leaderEpoch) {
        return new MemoryRecordsBuilder(new ByteBufferOutputStream(4096), MAGIC, Compression.of(codec).build(), type, baseOffset,
            logAppendTime, producerId, epoch, sequence, transactional, false, leaderEpoch, 4096);
    }

    /** Compressible, but not by run lengths alone. */
    private static byte[] pattern(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31 % 251 ^ i / 20_000);
        }
        return bytes;
    }

    private static Header header(String key, byte[] value) {
        return new RecordHeader(key, value);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void print(String name, MemoryRecordsBuilder builder) {
        print(name, builder.build().buffer());
    }

    private static void print(String name, ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        System.out.println(name + " " + HexFormat.of().formatHex(bytes));
    }
}
